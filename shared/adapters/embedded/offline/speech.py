"""Sentences of a transcript, and their words with meaning."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from shared.adapters.embedded.offline.calendar import MONTHS
from shared.domain.value import positional_value
from shared.retrieval.term_weights import EVERYDAY_WEIGHT, FUNCTION_WEIGHT, get_term_weight
from shared.retrieval.terms import tokenize

_MAX_SENTENCE_CHARS = 1_000
"""The rules compare the parts of a sentence with one another."""
_CONSONANTS = "b-df-gj-lnp-tv-xz"
_INITIALS = r"(?<!\b[A-HJ-Z]\.)"
_ABBREVIATIONS = "".join(
    rf"(?<!\b[B-DF-HJ-NP-TV-Z]{f'[{_CONSONANTS}]' * size}\.)" for size in (1, 2, 3)
)
"""A capital letter alone, or more without a vowel ("Mr."), go on behind their full stop; "Hm." does not."""
_END = re.compile(
    rf"(?<=[.!?…])(?<!\d\.){_INITIALS}{_ABBREVIATIONS}\s+"
    rf"|(?<=\d\.)\s+(?![^\W\dA-ZÄÖÜ]|(?i:{'|'.join(MONTHS)})\b)"
    r"|(?<=[。！？])|\n+"
)
"""The full stop of "am 15. Mai" ends none."""
_PIECE = re.compile(
    rf"\S(?:.{{0,{_MAX_SENTENCE_CHARS - 1}}}(?!\S)|.{{0,{_MAX_SENTENCE_CHARS - 1}}})"
)
_WORD = re.compile(r"[^\W_]+(?:[-'’.&][^\W_]+)*")
WORDS: Mapping[str, Any] = json.loads(Path(__file__).with_name("words.json").read_text("utf-8"))


def compile_words(name: str) -> re.Pattern[str]:
    return re.compile(WORDS["patterns"][name], re.IGNORECASE)


@positional_value
class Sentence:
    """One sentence, verbatim, with its segment and who speaks it."""

    text: str
    segment: int
    is_user: bool
    speaker: str


def collect_sentences(lines: Iterable[Mapping[str, Any]]) -> list[Sentence]:
    """Cut lines of a transcript or a chat into sentences."""
    return [
        Sentence(text, line["segment"], line.get("is_user", False), line["speaker"])
        for line in lines
        for text in split_sentences(line["text"])
    ]


def split_sentences(text: str) -> list[str]:
    """Split at punctuation and line ends, and what is longer than any sentence between words."""
    return [piece.strip() for sentence in _END.split(text) for piece in _PIECE.findall(sentence)]


def split_words(text: str) -> list[str]:
    return _WORD.findall(text)


def capitalise(text: str) -> str:
    """Return a text with its first letter as a capital, and the others as they are."""
    return text[:1].upper() + text[1:]


def list_terms(text: str, *, above: float = FUNCTION_WEIGHT) -> set[str]:
    """Return the terms that are rarer than those of a band: words of grammar, or of every day as well."""
    return {term for term in tokenize(text) if get_term_weight(term) > above}


@lru_cache(maxsize=4_096)
def is_meaningful(word: str) -> bool:
    """Tell a word that is not of every day, and neither short nor a number of two digits."""
    return (len(word) > 2 or word.isupper()) and bool(list_terms(word, above=EVERYDAY_WEIGHT))


def select_central(texts: Sequence[str], word_counts: Counter[str], limit: int) -> list[str]:
    """Return the few texts whose words occur most in the others, in their order; neither very short nor long ones win."""
    words = [split_words(text.lower()) for text in texts]
    scores = [sum(word_counts[each] for each in {*said}) / (len(said) + 4) for said in words]
    ranked = sorted(range(len(texts)), key=lambda n: -scores[n])
    return [texts[n] for n in sorted(ranked[:limit])]


def count_meaningful_words(texts: Iterable[str]) -> Counter[str]:
    """Count in how many of some texts a word with meaning stands, in lower case; in the order in which they are said."""
    words = (
        dict.fromkeys(w.lower() for w in split_words(text) if is_meaningful(w)) for text in texts
    )
    return Counter(word for each in words for word in each)
