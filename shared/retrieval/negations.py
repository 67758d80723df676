"""Negations: the words that say no, by language (negations.json)."""

import json
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from shared.domain.value import value
from shared.retrieval.terms import find_words, fold

_FILE = Path(__file__).with_name("negations.json")
_CONTRACTION = re.compile(
    "(?:ai|are|ca|could|did|do|does|had|has|have|is|must|need|should|was|were|wo|would)n'?t"
)


def has_negation(text: str) -> bool:
    """Tell whether a text says no, by the words for it in the languages of the table; “don't forget” does not."""
    folded = fold(text)
    for phrase in _NEGATIONS.affirming:
        folded = folded.replace(phrase, " ")
    words = {folded[start:end] for start, end, _ in find_words(folded)}
    says_no = any(word in _NEGATIONS.words or _CONTRACTION.fullmatch(word) for word in words)
    return says_no or any(sign in folded for sign in _NEGATIONS.signs)


def list_negation_words() -> Collection[str]:
    """Return them folded, but for those of scripts without spaces."""
    return _NEGATIONS.words


@value
class _Negations:
    """`signs` are those of scripts without spaces; `affirming` phrases deny that something be forgotten."""

    words: frozenset[str]
    signs: Sequence[str]
    affirming: Sequence[str]


def _read() -> _Negations:
    rows = {name: fold(row) for name, row in json.loads(_FILE.read_bytes()).items()}
    signs, affirming = rows.pop("signs").split(), rows.pop("affirming").split(", ")
    return _Negations(
        words=frozenset(" ".join(rows.values()).split()), signs=signs, affirming=affirming
    )


_NEGATIONS = _read()
