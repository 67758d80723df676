"""Sentences of a transcript, and their words with meaning."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import dropwhile
from typing import Any

from shared.domain.value import value
from shared.retrieval.term_weights import (
    EVERYDAY_WEIGHT,
    FUNCTION_WEIGHT,
    get_term_weight,
    list_english_terms,
)
from shared.retrieval.terms import tokenize

_MAX_SENTENCE_CHARS = 1_000
"""The rules compare the parts of a sentence with one another."""
_END = re.compile(r"(?<=[.!?…。！？])\s+|(?<=[。！？])|\n+")
_MAX_TAIL_CHARS = 24
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?<!\d\s)(?![HhMm]+\.)(?:[^\W\d_aeiouyAEIOUI][b-df-hj-np-tv-xz]{0,3}|[AEOU])\.$"
)
"""How a piece ends that goes on behind its full stop: a capital letter alone, or one without a vowel ("Mr."), but no unit ("3 pm.")."""
_ORDINAL = re.compile(r"(\w+),? \d{1,2}\.$")
_NOT_ONLY_ENGLISH = frozenset(("am", "im"))
"""English has these words; German says them before the number of a day or of a floor."""
_PIECE = re.compile(
    rf"\S(?:.{{0,{_MAX_SENTENCE_CHARS - 1}}}(?!\S)|.{{0,{_MAX_SENTENCE_CHARS - 1}}})"
)
_WORD = re.compile(r"[^\W_]+(?:[-'’.&][^\W_]+)*")

_PRONOUNS_TEXT = """
i me my mine you your yours we us our ours he him his she her hers it its they them their theirs this that these those
ich mir mich du dir dich er ihn ihm ihr ihnen ihre ihren uns euch es mein meine meinen meiner dein deine deinen deiner
unser unsere unseren euer eure euren
mí mi mis ti tu tus nos os su sus él ella ellos ellas lo conmigo contigo
je moi toi te lui leur leurs nous vous mon ma mes ton ta tes ça cela
"""
_PRONOUNS = frozenset(_PRONOUNS_TEXT.split())
_SPOKEN = re.compile(r"[^\W\d_]+(?=['’\W]|$)")
_CLITIC = re.compile(r"\b\w+[aeiáéí]r(?:me|te|se|nos|os|l[aeo]s?)+\b", re.IGNORECASE)
"""Spanish writes pronouns at the end of a verb: "enviármelo"."""


@value
class Sentence:
    """One sentence, verbatim, with its segment and who speaks it."""

    text: str
    segment: int
    is_user: bool
    speaker: str


def collect_sentences(data: Mapping[str, Any]) -> list[Sentence]:
    """Cut a prompt's transcript into sentences."""
    return [
        Sentence(
            text=text,
            segment=line["segment"],
            is_user=line.get("is_user", False),
            speaker=line["speaker"],
        )
        for line in data["transcript"]
        for text in split_sentences(line["text"])
    ]


def split_sentences(text: str) -> list[str]:
    """Split at punctuation and line ends, and what is longer than any sentence between words."""
    return [
        piece.strip() for sentence in _split_at_ends(text) for piece in _PIECE.findall(sentence)
    ]


def _split_at_ends(text: str) -> Iterator[str]:
    """Yield what stands between the ends of sentences; the full stops of "Mr." and "am 15. Mai" are none."""
    start = 0
    for end in _END.finditer(text):
        tail = text[max(start, end.start() - _MAX_TAIL_CHARS) : end.start()]
        goes_on = _ABBREVIATION.search(tail) or _is_ordinal(tail, _WORD.match(text, end.end()))
        if end[0].isspace() and "\n" not in end[0] and goes_on:
            continue
        yield text[start : end.start()]
        start = end.end()
    yield text[start:]


def _is_ordinal(tail: str, following: re.Match[str] | None) -> bool:
    """Tell "am 15. Mai" from "at 5. Ann": English has no ordinals with a full stop.

    A new sentence mostly begins with a capital letter and a word of grammar.
    """
    ordinal = _ORDINAL.search(tail)
    if ordinal is None or following is None:
        return False
    before, after = ordinal[1].lower(), following[0]
    is_english = before not in _NOT_ONLY_ENGLISH and before in list_english_terms()
    return after.islower() or not (is_english or _is_of_grammar(after))


def _is_of_grammar(word: str) -> bool:
    return all(get_term_weight(term) == FUNCTION_WEIGHT for term in tokenize(word))


def split_words(text: str) -> list[str]:
    return _WORD.findall(text)


def capitalise(text: str) -> str:
    """Return a text with its first letter as a capital, and the others as they are."""
    return text[:1].upper() + text[1:]


def list_content_terms(text: str) -> set[str]:
    """Return the terms with meaning."""
    return {term for term in tokenize(text) if get_term_weight(term) > FUNCTION_WEIGHT}


def has_content(text: str) -> bool:
    """Tell whether a text names anything, in words that are not of every day."""
    return any(get_term_weight(term) > EVERYDAY_WEIGHT for term in tokenize(text))


@lru_cache(maxsize=4_096)
def is_meaningful(word: str) -> bool:
    """Tell a word that is not of every day, and neither short nor a number of two digits."""
    return (len(word) > 2 or word.isupper()) and has_content(word)


def has_pronoun(words: str) -> bool:
    """Tell whether only their place tells whom or what some words mean."""
    spoken = (word.lower() for word in _SPOKEN.findall(words))
    return not _PRONOUNS.isdisjoint(spoken) or _CLITIC.search(words) is not None


def drop_pronouns(words: str) -> str:
    """Return some words without the pronouns that they begin with, if others follow."""
    rest = list(dropwhile(lambda word: word.lower() in _PRONOUNS, words.split()))
    return " ".join(rest) or words


def select_central(texts: Sequence[str], word_counts: Counter[str], limit: int) -> list[str]:
    """Return the few texts whose words occur most in the others, in their order."""
    ranked = sorted(range(len(texts)), key=lambda n: (-_weigh_text(texts[n], word_counts), n))
    return [texts[n] for n in sorted(ranked[:limit])]


def _weigh_text(text: str, word_counts: Counter[str]) -> float:
    """Sum the word counts, damped by length: neither very short nor very long texts win."""
    words = split_words(text)
    return sum(word_counts[word] for word in {word.lower() for word in words}) / (len(words) + 4)


def count_meaningful_words(texts: Iterable[str]) -> Counter[str]:
    """Count in how many of some texts a word with meaning stands, in lower case."""
    words = ({word.lower() for word in split_words(text) if is_meaningful(word)} for text in texts)
    return Counter(word for each in words for word in each)
