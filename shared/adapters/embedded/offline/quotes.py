"""Quotes of the offline model: the lines of search results that come closest to a question, in their places; pure.

A line is worth the words that it shares with the question, rare ones more.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from shared.adapters.embedded.offline.speech import list_content_terms, split_sentences
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.value import value
from shared.retrieval.synonyms import list_synonyms
from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import tokenize

MAX_QUOTES = 4
NEIGHBOURS = 2
OWNER_NAMES = frozenset({"", "me", "you", "user"})
MAX_LINE_CHARS = 240
"""A longer line is quoted by its sentences."""
_SYNONYM_SHARE = 0.5
_ANSWER_SHARE = 0.5
"""Of the weight of a question's terms. Of LoCoMo's questions 6 in 100 find no more in their own library, and 76 in that of somebody else."""
_MEMORY_BONUS = 0.2
_MENTION = frozenset(tokenize("anyone anybody someone somebody mention discuss promise"))
"""What is asked for need not say that it was said."""


@value
class Quote:
    """A line with its speaker; `document` is the number it is cited by, `passage` counts those that were found.

    A memory has a passage of its own, below zero.
    """

    text: str
    speaker: str = ""
    document: int | None = None
    passage: int = 0

    def __str__(self) -> str:
        return f"{self.speaker}: “{self.text}”" if self.speaker else f"“{self.text}”"

    @property
    def place(self) -> tuple[int | None, int]:
        return self.document, self.passage


def quote_passages(documents: Sequence[dict[str, Any]]) -> Iterator[Quote]:
    passages = ((d["document"], passage) for d in documents for passage in d.get("passages", []))
    for number, (document, passage) in enumerate(passages):
        for line in passage.splitlines():
            speaker, colon, speech = line.partition(": ")
            name = speaker if colon and is_name(speaker) else ""
            said = speech if colon else line
            for text in [said] if len(said) <= MAX_LINE_CHARS else split_sentences(said):
                yield Quote(
                    text=text,
                    speaker="You" if name == "User" else name,
                    document=document,
                    passage=number,
                )


def select_closest(question: str, quotes: Sequence[Quote]) -> list[int]:
    """Return the places of the lines that share most with a question, best first; ties keep the order of the search."""
    terms = _list_asked_terms(question)
    shares = [measure_share(terms, f"{quote.speaker} {quote.text}") for quote in quotes]
    scores = [
        share + (_MEMORY_BONUS if share and quote.passage < 0 else 0.0)
        for share, quote in zip(shares, quotes, strict=True)
    ]
    best = sorted(range(len(quotes)), key=lambda n: -scores[n])[:MAX_QUOTES]
    return [n for n in best if scores[n] * 2 > scores[best[0]]]


def show_places(best: Sequence[int], quotes: Sequence[Quote]) -> list[tuple[int | None, str]]:
    """Return some lines by document, each with those around it, where they stand together."""
    shown = {m for n in best for m in _list_around(n, quotes)}
    runs: list[list[int]] = []
    for n in sorted(shown):
        is_next = runs and runs[-1][-1] == n - 1 and quotes[n].place == quotes[n - 1].place
        runs[-1].append(n) if is_next else runs.append([n])
    runs.sort(key=lambda run: min(best.index(n) for n in run if n in best))
    return [(quotes[run[0]].document, format_place(quotes[run[0] : run[-1] + 1])) for run in runs]


def _list_around(number: int, quotes: Sequence[Quote]) -> list[int]:
    """Return the numbers of a line and those before and after it: an answer may stand behind a question."""
    near = range(max(number - NEIGHBOURS, 0), min(number + NEIGHBOURS + 1, len(quotes)))
    return [n for n in near if quotes[n].place == quotes[number].place]


def format_place(quotes: Sequence[Quote]) -> str:
    """Write lines that follow one another, those of a speaker together, and cite them once."""
    turns = [
        Quote(text=" ".join(quote.text for quote in turn), speaker=speaker)
        for speaker, turn in groupby(quotes, key=lambda quote: quote.speaker)
    ]
    document = quotes[0].document
    return " ".join(map(str, turns)) + (f"[{document}]" if document else "")


def find_speaker(question: str, quotes: Iterable[Quote]) -> str:
    """Return the words of a question that name a speaker, but for the owner; empty without any."""
    asked = list_content_terms(question)
    names = (
        " ".join(word for word in speaker.split() if not asked.isdisjoint(tokenize(word)))
        for speaker in list_speakers(quotes)
    )
    return max(names, key=len, default="")


def list_speakers(quotes: Iterable[Quote]) -> list[str]:
    """Return who speaks, but for the owner."""
    speakers = dict.fromkeys(quote.speaker for quote in quotes)
    return [name for name in speakers if name.casefold() not in OWNER_NAMES]


def is_answered(question: str, texts: Iterable[str]) -> bool:
    """Tell whether one of the texts has more than half of what is asked for, so that it may be the answer."""
    terms = _list_asked_terms(question)
    return any(measure_share(terms, text) > _ANSWER_SHARE for text in texts)


def measure_share(terms: Iterable[str], text: str) -> float:
    """Return how much of the weight of some terms a text has, 0 to 1; a synonym counts half."""
    weights = {term: get_term_weight(term) for term in terms}
    found = set(tokenize(text))
    shared = sum(
        weight if term in found else _SYNONYM_SHARE * weight
        for term, weight in weights.items()
        if not found.isdisjoint((term, *list_synonyms(term)))
    )
    return shared / (sum(weights.values()) or 1.0)


def _list_asked_terms(question: str) -> set[str]:
    asked = list_content_terms(question)
    return asked - _MENTION or asked
