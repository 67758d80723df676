"""Commitments: what somebody asked of the owner, or who promised what, quoted from their conversations; pure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice

from shared.adapters.embedded.offline.intents import Intent
from shared.adapters.embedded.offline.quotes import OWNER_NAMES, Quote, find_speaker
from shared.adapters.embedded.offline.speech import Sentence
from shared.adapters.embedded.offline.tasks import Talk, list_meant

_MAX_COMMITMENTS = 5
_SIDES: Mapping[Intent, tuple[bool, bool]] = {
    "asked_of_owner": (False, True),
    "own_promises": (True, True),
    "others_tasks": (False, False),
}
"""Whether the owner says what is looked for, and whether it is the owner's to do."""


def select_commitments(
    intent: Intent, question: str, quotes: Sequence[Quote]
) -> tuple[str, list[Quote]]:
    """Return which speaker a question names, and what an intent looks for: of the named one, if it is not the owner's.

    Where somebody asked nothing of the owner that is read as a task, it is all that they asked.
    """
    speaker = find_speaker(question, quotes)
    if intent not in _SIDES or (intent == "asked_of_owner" and not speaker):
        return "", []
    says_own, does_own = _SIDES[intent]
    found = [
        quote
        for quote, sides in _find_commitments(quotes)
        if sides == (says_own, does_own) and (says_own or speaker in quote.speaker)
    ]
    asked = (quote for quote in quotes if speaker in quote.speaker and quote.is_question)
    others = asked if intent == "asked_of_owner" else iter(())
    return speaker, list(islice(found or others, _MAX_COMMITMENTS))


def _find_commitments(quotes: Sequence[Quote]) -> Iterator[tuple[Quote, tuple[bool, bool]]]:
    """Yield each with whether the owner says it, and has to do it."""
    for _, group in groupby(quotes, key=lambda quote: quote.document):
        said = list(group)
        talk = Talk([_to_sentence(quote) for quote in said])
        for nominee in list_meant(talk):
            own = talk.cast.own
            yield said[nominee.place], (nominee.sentence.speaker in own, nominee.doer in own)


def _to_sentence(quote: Quote) -> Sentence:
    is_user = bool(quote.speaker) and quote.speaker.casefold() in OWNER_NAMES
    return Sentence(text=quote.text, segment=0, is_user=is_user, speaker=quote.speaker)
