"""Word code: the bits of one word of a phrase that is no word of the message.

Languages inflect: the owner writes "Regenjacken", and a search wants "Regenjacke". Such a form names the
word of the message, where it is cut, and what stands there instead. Other words are a part of the
message, or spelled out. The code says as well whether another word follows.
"""

import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from math import inf, log2
from typing import Final

from functions.chat.consent.literal_code import (
    list_outside_signs,
    measure_choice_of_span,
    measure_text,
)

NEW_WORD_BITS: Final = 1.0
"""Any word that this code has, and not words of the message in their own spelling."""
NEXT_WORD_BITS: Final = 1.0
"""Whether another word follows, where the literal code does not say it by a space or an end."""

_FORM, _PART, _SPELLED = -log2(1 / 2), -log2(1 / 4), -log2(1 / 4)
_FORM_BITS: Final = 2.0
"""A shorter or another ending, or a shorter or another beginning."""
_SAME_FIRST, _SWAPPED_FIRST = -log2(7 / 8), -log2(1 / 8)
"""The case of a word's first letter: a sentence begins with a capital."""


class WordCode:
    """The words of a message, to find those that another word is a form of.

    Costs are bits; those beyond a limit may be inf.
    """

    def __init__(self, message: str) -> None:
        """Take the message with single spaces."""
        self._message = message
        self._outside_signs = list_outside_signs(message)
        self._words = sorted(_list_words(message))
        self._reversed = sorted(word[::-1] for word in self._words)
        self._choice = log2(max(len(self._words), 1))

    def measure(self, word: str, limit: float, *, is_last: bool) -> float:
        """Return the cost of a word that contains no space and is not empty."""
        return min(
            _FORM + self._measure_ending(word, limit, is_last=is_last),
            _FORM + self._measure_beginning(word, limit),
            _PART + self._measure_part(word),
            _SPELLED + self._spell_end(word, limit, is_last=is_last),
        )

    def _measure_ending(self, word: str, limit: float, *, is_last: bool) -> float:
        return min(
            _SAME_FIRST + self._measure_end(word, word, limit, is_last=is_last),
            _SWAPPED_FIRST + self._measure_end(word, swap_first(word), limit, is_last=is_last),
        )

    def _measure_end(self, word: str, spelling: str, limit: float, *, is_last: bool) -> float:
        """Return the cost of a word that begins as one of the message does, looked up as spelled."""
        known, length = _find_nearest(spelling, self._words)
        stem, ending = word[:length], word[length:]
        if not length or (spelling != word and swap_first(known[:length]) != stem):
            return inf
        bits = self._choice + log2(len(known)) + _FORM_BITS
        if not ending:
            return bits + NEXT_WORD_BITS
        return bits + self._spell_end(ending, limit - bits, behind=stem, is_last=is_last)

    def _measure_beginning(self, word: str, limit: float) -> float:
        known, length = _find_nearest(word[::-1], self._reversed)
        if not length:
            return inf
        bits = self._choice + log2(len(known)) + _FORM_BITS + NEXT_WORD_BITS
        beginning = word[: len(word) - length]
        if not beginning:
            return bits
        return bits + measure_text(beginning, limit - bits, signs=self._outside_signs)

    def _measure_part(self, word: str) -> float:
        if word not in self._message:
            return inf
        return measure_choice_of_span(len(self._message)) + NEXT_WORD_BITS

    def _spell_end(self, rest: str, limit: float, *, behind: str = "", is_last: bool) -> float:
        return measure_text(
            rest, limit, behind=behind, signs=self._outside_signs, is_before_space=not is_last
        )


def _list_words(message: str) -> set[str]:
    """List the words of a message without the punctuation around them."""
    punctuation = "".join(sign for sign in set(message) if unicodedata.category(sign)[0] == "P")
    return {part.strip(punctuation) for part in message.split(" ")} - {""}


def swap_first(text: str) -> str:
    """Write the first letter in the other case."""
    return text[:1].swapcase() + text[1:]


def _find_nearest(word: str, words: Sequence[str]) -> tuple[str, int]:
    """Find the one of sorted `words` that shares the longest beginning: it stands next to `word`."""
    place = bisect_left(words, word)
    neighbours = words[max(place - 1, 0) : place + 1]
    lengths = ((_count_same_signs(word, neighbour), neighbour) for neighbour in neighbours)
    length, nearest = max(lengths, default=(0, ""))
    return nearest, length


def _count_same_signs(text: str, other: str) -> int:
    """Return the length of the beginning that two texts share."""
    same, different = 0, min(len(text), len(other)) + 1
    while different - same > 1:
        middle = (same + different) // 2
        is_same = other.startswith(text[:middle])
        same, different = (middle, different) if is_same else (same, middle)
    return same
