"""Quotes of the offline model: the sentences of search results that come closest to a question; pure.

A sentence is worth the words that it shares with the question, rare ones more, and what kind of answer
it gives: "when" asks for a time, "how long" for a duration. A question that was answered counts with
its reply.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import groupby, islice
from typing import Any

from shared.adapters.embedded.offline.speech import (
    list_content_terms,
    split_sentences,
    split_words,
)
from shared.domain.value import value
from shared.retrieval.synonyms import list_synonyms
from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import tokenize

MAX_QUOTES = 3
OWNER_NAMES = frozenset({"", "me", "you", "user"})
_SYNONYM_SHARE = 0.5
_ANSWER_SHARE = 0.5
"""Of the weight of a question's terms. Of LoCoMo's questions 6 in 100 find no more in their own library, and 76 in that of somebody else."""
_CONTEXT_SHARE = 0.25
_ANSWER_CONTEXT_SHARE = 0.6
_SPEAKER_SHARE = 0.5
"""Of the score of a line that shares nothing with a question but who speaks."""
_FOCUS = 2.0
_KIND_BONUS = 4.0
_MEMORY_BONUS = 2.0
_PROMISE_BONUS = 8.0
_SPELLING = 0.85
"""Of difflib: one letter in seven may differ."""
_MIN_SPELT_CHARS, _MAX_SPELT_CHARS, _MAX_SPELT_WORDS = 6, 20, 20
_UNNAMED_SPEAKER = re.compile(r"(SPEAKER|Speaker)[_ ]?\d*")
_NUMBER = r"\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand)\b"
_TIME = (
    rf"\bin (an?|{_NUMBER}|\w+) (minute|hour|day|week|month|year)s?\b|\bat ({_NUMBER})|\bo'clock\b|\b(mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|\b(tomorrow|tonight|today|noon|midnight|next \w+|january|february|march|april|june|july|august|september|october|november|december)\b|\b(19|20)\d\d\b"
)
_DURATION = (
    rf"(?<!\bin )(\ban? |({_NUMBER})\S*\s+)(second|minute|hour|day|night|week|month|year)s?\b"
)
_PROMISE = re.compile(r"\bI(['’]ll| will| can| promise)\b")
_KINDS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (re.compile(r"how long\b", re.IGNORECASE), re.compile(_DURATION, re.IGNORECASE)),
    (re.compile(r"when\b|what (time|day|date)\b", re.IGNORECASE), re.compile(_TIME, re.IGNORECASE)),
    (re.compile(r"where\b", re.IGNORECASE), re.compile(r"\b(in|at|on|to|near|behind|under|by) (?-i:[A-Z]|the\b|an?\b)", re.IGNORECASE)),
)  # fmt: skip
"""How a question begins, and what a sentence that answers it contains."""
_ASKS_OWNER = re.compile(r"\b(do|did|am|have|can|should) i\b|\bmy\b", re.IGNORECASE)
_ASKS_THING = re.compile(
    r"(?:what|where)(?:['’]s| is| are| was| were) (?:the|my|our) (?:\w+['’]s )?(\w+)", re.IGNORECASE
)
_MENTIONS = re.compile(
    r"\b(?:(?:any|some|every)(?:one|body) )?(?:mention|discuss)(?:ed)?\b", re.IGNORECASE
)
"""What is asked for need not say that it was said."""
_ASKS_PROMISE = re.compile(r"\b(promise|agree to|offer|say \w+ (would|will))", re.IGNORECASE)


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
            yield from _split_line(line, document, number)


def _split_line(line: str, document: int, passage: int) -> Iterator[Quote]:
    speaker, colon, speech = line.partition(": ")
    if not colon:
        speaker, speech = "", line
    speaker_name = "" if _UNNAMED_SPEAKER.fullmatch(speaker) else speaker
    speaker_name = "You" if speaker_name == "User" else speaker_name
    for text in split_sentences(speech):
        yield Quote(text=text, speaker=speaker_name, document=document, passage=passage)


def select_closest(question: str, quotes: Sequence[Quote]) -> list[Quote]:
    """Return the closest sentences, best first; ties keep the order of the search."""
    scores = _score_all(question, quotes)
    close_quotes = [quote for quote, score in scores.items() if score]
    top_quotes = sorted(close_quotes, key=lambda quote: -scores[quote])[:MAX_QUOTES]
    return [quote for quote in top_quotes if scores[quote] * 2 >= scores[top_quotes[0]]]


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
    last = number + 1 if number + 1 < len(all_quotes) else number
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
        for speaker in dict.fromkeys(quote.speaker for quote in quotes)
        if speaker.casefold() not in OWNER_NAMES
    )
    return max(names, key=len, default="")


def asks_promise(question: str) -> bool:
    return _ASKS_PROMISE.search(question) is not None


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
    total = sum(weights.values())
    return _weigh_shared(weights, set(tokenize(text))) / total if total else 0.0


def _weigh_shared(weights: Mapping[str, float], terms: set[str]) -> float:
    return sum(
        weight if term in terms else _SYNONYM_SHARE * weight
        for term, weight in weights.items()
        if not terms.isdisjoint((term, *list_synonyms(term)))
    )


def _list_asked_terms(question: str) -> set[str]:
    """Return the terms that an answer has; it need not say that it promises or mentions."""
    asked = list_content_terms(_MENTIONS.sub(" ", _ASKS_PROMISE.sub(" ", question)))
    return asked or list_content_terms(question)


def _score_all(question: str, quotes: Sequence[Quote]) -> dict[Quote, float]:
    """Score each sentence; a reply inherits the score of the question before it."""
    term_sets = [_list_terms(quote) for quote in quotes]
    weights = _weigh_terms(question, term_sets)
    said: dict[int | None, set[str]] = {}
    for quote, terms in zip(quotes, term_sets, strict=True):
        said.setdefault(quote.document, set()).update(terms)
    totals = {
        document: _sum_weights(weights, words) if document else 0.0
        for document, words in said.items()
    }
    best_total = max(totals.values(), default=0.0)
    scores: dict[Quote, float] = {}
    inherited_score = 0.0
    for quote, terms in zip(quotes, term_sets, strict=True):
        spoken_terms = list_content_terms(quote.text)
        said_share = _SPEAKER_SHARE if spoken_terms.isdisjoint(weights) else 1.0
        own_score = said_share * _sum_weights(weights, terms)
        score = max(own_score if spoken_terms else 0.0, inherited_score)
        is_kind = _gives_kind(question, quote)
        inherited_score = own_score if quote.is_question else 0.0
        is_of_best = 0 < totals[quote.document] == best_total
        is_promise = totals[quote.document] and _is_promise_asked_for(question, quote)
        if score or is_promise or (is_of_best and is_kind):
            share = _ANSWER_CONTEXT_SHARE if is_kind else _CONTEXT_SHARE
            score += share * totals[quote.document] + _find_bonus(question, quote)
        scores[quote] = max(score, scores.get(quote, 0.0))
    return scores


def _gives_kind(question: str, quote: Quote) -> bool:
    """Tell whether a sentence gives the kind of answer that is asked for: a time, a duration, a place."""
    text = question.strip()
    kind = next((answer for asked, answer in _KINDS if asked.match(text)), None)
    return bool(kind and kind.search(quote.text) and not quote.is_question)


def _list_terms(quote: Quote) -> set[str]:
    return list_content_terms(quote.text) | set(tokenize(quote.speaker))


def _weigh_terms(question: str, term_sets: Sequence[set[str]]) -> dict[str, float]:
    """Weigh the terms that answer a question: the rarer among the sentences, the more."""
    focus = _find_focus(question)
    weights: dict[str, float] = {}
    for term in _list_asked_terms(question):
        for other in (term, *list_synonyms(term)):
            share = (1.0 if other == term else _SYNONYM_SHARE) * (_FOCUS if term in focus else 1.0)
            matching = sum(other in terms for terms in term_sets)
            rarity = math.log((len(term_sets) + 1) / (matching + 1))
            weights[other] = max(
                weights.get(other, 0.0), share * (get_term_weight(term) + rarity / 2)
            )
    return weights


def _find_focus(question: str) -> set[str]:
    """Return the terms of what is asked for: "address" in "What is the address of the flat?"."""
    match = _ASKS_THING.match(question.strip())
    return list_content_terms(match[1]) if match else set()


def _sum_weights(weights: dict[str, float], terms: set[str]) -> float:
    return sum(weight for term, weight in weights.items() if term in terms)


def _find_bonus(question: str, quote: Quote) -> float:
    """Prefer the kind of answer that is asked for, promises of whom it is asked, and memories."""
    text = question.strip()
    bonus = _KIND_BONUS if _gives_kind(text, quote) else 0.0
    bonus += _MEMORY_BONUS if quote.passage < 0 else 0.0
    return bonus + (_PROMISE_BONUS if _is_promise_asked_for(text, quote) else 0.0)


def _is_promise_asked_for(question: str, quote: Quote) -> bool:
    """Tell whether a sentence promises something, and its speaker is who the question is about."""
    if not (asks_promise(question) and _PROMISE.search(quote.text)):
        return False
    if _ASKS_OWNER.search(question):
        return quote.speaker == "You"
    return not list_content_terms(quote.speaker).isdisjoint(list_content_terms(question))
