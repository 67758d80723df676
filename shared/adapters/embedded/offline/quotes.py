"""Quotes of the offline model: the sentences of search results that come closest to a question, in their places; pure.

A sentence is worth the words that it shares with the question, rare ones more, and a part of what its conversation
shares. A question that was answered counts with its reply.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import groupby, islice
from typing import Any

from shared.adapters.embedded.offline.speech import (
    list_content_terms,
    split_sentences,
    split_words,
)
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.value import value
from shared.retrieval.synonyms import list_synonyms
from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import tokenize

MAX_QUOTES = 4
OWNER_NAMES = frozenset({"", "me", "you", "user"})
_SYNONYM_SHARE = 0.5
_ANSWER_SHARE = 0.5
"""Of the weight of a question's terms. Of LoCoMo's questions 6 in 100 find no more in their own library, and 76 in that of somebody else."""
_CONTEXT_SHARE = 0.25
_SPEAKER_SHARE = 0.5
"""Of the score of a line that shares nothing with a question but who speaks."""
_MEMORY_BONUS = 2.0
_SPELLING = 0.85
"""Of difflib: one letter in seven may differ."""
_MIN_SPELT_CHARS, _MAX_SPELT_CHARS, _MAX_SPELT_WORDS = 6, 20, 20
_FOCUS = 2.0
_ASKS_THING = re.compile(
    r"(?:what|where)(?:['’]s| is| are| was| were) (?:the|my|our) (?:\w+['’]s )?(\w+)", re.IGNORECASE
)
"""What is asked for counts more: "address" in "What is the address of the flat?"."""
_MENTION = "anyone anybody someone somebody mention discuss promise"
"""What is asked for need not say that it was said."""


@value
class Quote:
    """A sentence with its speaker; `document` is the number it is cited by, `passage` counts those that were found.

    A memory has a passage of its own, below zero.
    """

    text: str
    speaker: str = ""
    document: int | None = None
    passage: int = 0

    def __str__(self) -> str:
        quotation = f"{self.speaker}: “{self.text}”" if self.speaker else f"“{self.text}”"
        return f"{quotation}[{self.document}]" if self.document else quotation

    @property
    def place(self) -> tuple[int | None, int]:
        return self.document, self.passage

    @property
    def is_question(self) -> bool:
        return self.text.endswith(("?", "？"))


def quote_passages(documents: Sequence[dict[str, Any]]) -> Iterator[Quote]:
    passages = ((d["document"], passage) for d in documents for passage in d.get("passages", []))
    for number, (document, passage) in enumerate(passages):
        for line in passage.splitlines():
            speaker, colon, speech = line.partition(": ")
            name = speaker if colon and is_name(speaker) else ""
            for text in split_sentences(speech if colon else line):
                yield Quote(
                    text=text,
                    speaker="You" if name == "User" else name,
                    document=document,
                    passage=number,
                )


def select_closest(question: str, quotes: Sequence[Quote]) -> list[Quote]:
    """Return the closest sentences, best first; ties keep the order of the search."""
    scores = _score_all(question, quotes)
    top = sorted(filter(scores.__getitem__, scores), key=lambda quote: -scores[quote])[:MAX_QUOTES]
    return [quote for quote in top if scores[quote] * 2 >= scores[top[0]]]


def show_places(
    quotes: Sequence[Quote], all_quotes: Sequence[Quote]
) -> list[tuple[int | None, str]]:
    """Return the places of some quotes, each with the sentences before and after it, best first, by document."""
    numbers = {quote: number for number, quote in reversed([*enumerate(all_quotes)])}
    places: list[list[int]] = []
    for quote in quotes:
        around = _list_around(numbers[quote], all_quotes)
        near = (p for p in places if p[0] - 1 <= around[-1] and around[0] <= p[-1] + 1)
        same = next((p for p in near if all_quotes[p[0]].place == quote.place), None)
        if same is not None:
            same[:] = range(min(same[0], around[0]), max(same[-1], around[-1]) + 1)
        else:
            places.append(around)
    return [
        (all_quotes[place[0]].document, format_place(all_quotes[place[0] : place[-1] + 1]))
        for place in places
    ]


def _list_around(number: int, all_quotes: Sequence[Quote]) -> list[int]:
    """Return the numbers of a sentence and its neighbours in the passage; a question goes with its reply, and with what it asks about."""
    here = all_quotes[number]
    last = min(number + 1, len(all_quotes) - 1)
    last += last + 1 < len(all_quotes) and all_quotes[last].is_question
    first = max(number - 1, 0)
    first -= first > 0 and all_quotes[first].is_question
    return [n for n in range(first, last + 1) if all_quotes[n].place == here.place]


def format_place(quotes: Sequence[Quote]) -> str:
    """Write sentences that follow one another, those of a speaker together, and cite them once."""
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


def correct_spelling(question: str, texts: Iterable[str]) -> str:
    """Return a question with each word that no text has as the one that is nearly written so, if there is one."""
    known = {word for text in texts for word in split_words(text.casefold()) if _is_spelt(word)}
    words = (w for w in dict.fromkeys(split_words(question)) if _is_spelt(w))
    for word in islice(words, _MAX_SPELT_WORDS):
        lower = word.casefold()
        alike = [] if lower in known else [other for other in known if other[0] == lower[0]]
        near = get_close_matches(lower, alike, 1, _SPELLING)
        question = question.replace(word, near[0]) if near else question
    return question


def _is_spelt(word: str) -> bool:
    return _MIN_SPELT_CHARS <= len(word) <= _MAX_SPELT_CHARS


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
    return asked.difference(tokenize(_MENTION)) or asked


def _score_all(question: str, quotes: Sequence[Quote]) -> dict[Quote, float]:
    """Score each sentence; a reply inherits the score of the question before it."""
    spoken_terms = [list_content_terms(quote.text) for quote in quotes]
    term_sets = [t | set(tokenize(q.speaker)) for t, q in zip(spoken_terms, quotes, strict=True)]
    weights = _weigh_terms(question, term_sets)
    said = defaultdict[int | None, set[str]](set)
    for quote, terms in zip(quotes, term_sets, strict=True):
        said[quote.document] |= terms if quote.document else set()
    totals = {document: _sum_weights(weights, terms) for document, terms in said.items()}
    scores: dict[Quote, float] = {}
    inherited = 0.0
    for quote, spoken, terms in zip(quotes, spoken_terms, term_sets, strict=True):
        own = _sum_weights(weights, terms) * (_SPEAKER_SHARE if spoken.isdisjoint(weights) else 1.0)
        score = max(own if spoken else 0.0, inherited)
        inherited = own if quote.is_question else 0.0
        if score:
            score += _CONTEXT_SHARE * totals[quote.document]
            score += _MEMORY_BONUS if quote.passage < 0 else 0.0
        scores[quote] = max(score, scores.get(quote, 0.0))
    return scores


def _weigh_terms(question: str, term_sets: Sequence[set[str]]) -> dict[str, float]:
    """Weigh the terms that answer a question: the rarer among the sentences, the more."""
    thing = _ASKS_THING.match(question.strip())
    focus = list_content_terms(thing[1]) if thing else set()
    weights = defaultdict[str, float](float)
    for term in _list_asked_terms(question):
        for other in (term, *list_synonyms(term)):
            matching = sum(other in terms for terms in term_sets)
            rarity = math.log((len(term_sets) + 1) / (matching + 1))
            weight = get_term_weight(term) + rarity / 2
            share = (1.0 if other == term else _SYNONYM_SHARE) * (_FOCUS if term in focus else 1.0)
            weights[other] = max(weights[other], share * weight)
    return weights


def _sum_weights(weights: Mapping[str, float], terms: set[str]) -> float:
    return sum(weight for term, weight in weights.items() if term in terms)
