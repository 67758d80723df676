"""Scraps: short recordings of nothing but greetings, thanks, fillers and small words; pure.

What is not known to be one is content: so a name, a number, a time, a promise or a question is never taken
for a scrap, in whatever language.
"""

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from shared.retrieval.term_weights import FUNCTION_WEIGHT, get_term_weight
from shared.retrieval.terms import find_words, fold, tokenize

_TABLE = json.loads(Path(__file__).with_name("scraps.json").read_text(encoding="utf-8"))
_QUESTION_MARK = re.compile("[?？؟\u037e]")
_PROMISE = re.compile(
    r"\b(?:do (?:it|that|this)|(?:i|can|will) do|doe ik|ik doe|let me|on it|(?:i|you|he|she|it|we|they)(?:['’]ll|\s+(?:will|shall|must|can|(?:have|has|need|needs|got)\s+to)"
    r"|(?:['’](?:m|re|s)|\s+(?:am|are|is))\s+going\s+to|['’](?:ve|s)\s+got\s+to))\b",
    re.IGNORECASE,
)
"""Of small words alone in English, and in Dutch, whose "doe" is read as "does"; elsewhere a verb is none of the table's."""


def is_scrap(texts: Iterable[str]) -> bool:
    """Tell whether the texts of a recording hold no word that could matter later."""
    return all(map(_is_scrap, texts))


def _is_scrap(text: str) -> bool:
    if _QUESTION_MARK.search(text) or _PROMISE.search(text):
        return False
    words = " ".join(fold(text[start:end]) for start, end, _ in find_words(text))
    rest = _compile_greetings().sub("", words)
    return all(
        _is_small(rest[start:end], is_spaced=spaced) for start, end, spaced in find_words(rest)
    )


def _is_small(word: str, *, is_spaced: bool) -> bool:
    if any(sign.isnumeric() for sign in word):
        return False
    if not is_spaced:
        return not _compile_unspaced().sub("", word)
    return word in _load_words() or all(
        get_term_weight(term) == FUNCTION_WEIGHT for term in tokenize(word)
    )


@cache
def _load_words() -> frozenset[str]:
    return frozenset(fold(" ".join(_TABLE["words"].values())).split())


@cache
def _compile_greetings() -> re.Pattern[str]:
    """Compile the greetings that name a time of the day, which is content anywhere else."""
    greetings = (fold(each) for listed in _TABLE["greetings"].values() for each in listed)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, greetings))})\b")


@cache
def _compile_unspaced() -> re.Pattern[str]:
    """Compile the words of scripts without spaces, the longest first."""
    return re.compile("|".join(map(re.escape, sorted(_load_words(), key=len, reverse=True))))
