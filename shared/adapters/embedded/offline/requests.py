"""Requests: what somebody asked of the owner, quoted from their conversations; pure."""

from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from shared.adapters.embedded.offline.quotes import OWNER_NAMES, Quote, find_speaker
from shared.adapters.embedded.offline.speech import Sentence
from shared.adapters.embedded.offline.tasks import find_requests

_MAX_REQUESTS = 5


def select_requests(question: str, quotes: Sequence[Quote]) -> tuple[str, list[Quote]]:
    """Return which speaker a question names, and what they asked of the owner, or else what they asked."""
    speaker = find_speaker(question, quotes)
    if not speaker:
        return "", []
    requests = [quote for quote in _find_all_requests(quotes) if speaker in quote.speaker]
    asked = (quote for quote in quotes if speaker in quote.speaker and quote.is_question)
    return speaker, list(islice(requests or asked, _MAX_REQUESTS))


def _find_all_requests(quotes: Sequence[Quote]) -> Iterator[Quote]:
    for _, group in groupby(quotes, key=lambda quote: quote.document):
        said = list(group)
        for place in find_requests([_to_sentence(quote) for quote in said]):
            yield said[place]


def _to_sentence(quote: Quote) -> Sentence:
    is_user = bool(quote.speaker) and quote.speaker.casefold() in OWNER_NAMES
    return Sentence(text=quote.text, segment=0, is_user=is_user, speaker=quote.speaker)
