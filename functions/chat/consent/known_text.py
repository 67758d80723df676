"""Known text: the user's words of this message, what the receiver returned earlier, and the date.

A receiver that knows it could be told any of it in few bits: how few is measured here.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property
from itertools import accumulate, groupby
from math import inf, log2
from typing import Any, Final

from functions.chat.consent.literal_code import (
    list_outside_signs,
    measure_choice_of_span,
    measure_length,
    measure_text,
)
from functions.chat.consent.word_code import NEW_WORD_BITS, NEXT_WORD_BITS, WordCode, swap_first

_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_NUMBER: Final = re.compile(r"\d{4,}")
_SEPARATOR: Final = re.compile(r"[,;:|()\[\]{}<>\"\n]| [-–—] ")
_EDGES: Final = " .,;:!?()[]{}<>\"'`*#-"
_MAX_MARKS: Final = 30
"""Combining marks in a row that Unicode's stream-safe form allows; no script needs more."""
_MAX_OCCURRENCES: Final = 16
"""Occurrences of a text that are looked at until one begins and ends with a word."""
_MAX_RETURNED_CHARS: Final = 100_000
"""Of what was returned, the newest part is indexed."""
_MAX_VALUE_CHARS: Final = 500

_ONE_SPAN, _MORE_SPANS = -log2(0.8), -log2(0.2)
_KNOWN_WORDS_BITS: Final = 1.0
"""In a phrase: words of the message, and not a new word."""
_UNCHANGED, _SOME_CHANGED = -log2(0.62), -log2(0.08)
_WHOLE_PART, _CHANGED_ENDING = -log2(0.7), -log2(0.3)
_CHANGE_BITS: Final = 6.0
"""Which of at most 64 signs that are equal without case replaces another."""


def normalize_text(text: str) -> str:
    """Write a text in NFC and with single spaces, as it is compared and sent."""
    return " ".join(_compose(text).split())


def _compose(text: str) -> str:
    """Write a text in NFC, unless sorting its marks would take time that grows with their square."""
    if unicodedata.is_normalized("NFC", text):
        return text
    runs = groupby(map(unicodedata.combining, text), key=bool)
    is_endless = any(is_mark and len(list(run)) > _MAX_MARKS for is_mark, run in runs)
    return text if is_endless else unicodedata.normalize("NFC", text)


class KnownText:
    """Text that a receiver may be told in few bits; costs are bits, inf where a text is not known.

    Indexes are built when first asked for: make one for a turn, and another when more was returned.
    """

    def __init__(self, *, message: str, returned: Sequence[str], now: datetime) -> None:
        """Take the user's own message, texts that the same app returned, and their local time."""
        if now.tzinfo is None:
            raise ValueError("the local time needs its zone")
        self.now = now
        self.message = normalize_text(message)
        self._returned = returned

    def measure_words(self, text: str, limit: float) -> float:
        """Return the cost of runs of words of the message, joined by single spaces."""
        if not text or text != text.strip():
            return inf
        run = _Run(text)
        bits = 0.0
        begin = 0
        while begin < run.words and bits <= limit:
            end = self._find_longest_run(run, begin)
            if end == begin:
                return inf
            bits += self._measure_span(run.get_text(begin, end), limit)
            bits += _ONE_SPAN if end == run.words else _MORE_SPANS
            begin = end
        return bits

    def measure_part(self, text: str, limit: float) -> float:
        """Return the cost of a part of the message, and of what follows it, such as another ending."""
        length = self._find_longest_part(text)
        if not length:
            return inf
        part, ending = text[:length], text[length:]
        bits = measure_choice_of_span(len(self.message))
        if not ending:
            return bits + _WHOLE_PART
        return bits + _CHANGED_ENDING + self.measure_literal(ending, limit, behind=part)

    def measure_phrase(self, text: str, limit: float) -> float:
        """Return the cost of words of the message and new ones, joined by single spaces."""
        if "  " in f" {text} ":
            return inf
        run = _Run(text)
        bits = 0.0
        begin = 0
        while begin < run.words and bits <= limit:
            end = self._find_longest_run(run, begin)
            bits += self._measure_piece(run, begin, end, limit - bits)
            begin = max(end, begin + 1)
        return bits if bits <= limit else inf

    def _measure_piece(self, run: "_Run", begin: int, end: int, limit: float) -> float:
        """Return the cost of known words, or of a new one where there are none."""
        if end > begin:
            span = self._measure_span(run.get_text(begin, end), limit)
            return _KNOWN_WORDS_BITS + span + NEXT_WORD_BITS
        word, is_last = run.get_text(begin, begin + 1), begin + 1 == run.words
        return NEW_WORD_BITS + self._word_code.measure(word, limit, is_last=is_last)

    def measure_literal(self, text: str, limit: float, *, behind: str = "") -> float:
        """Return the cost of a text that is spelled out, cheaper in the script of the message."""
        return measure_text(text, limit, behind=behind, signs=self._outside_signs)

    def measure_number(self, spelling: str) -> float:
        """Return the cost of a number that is a word of the message."""
        is_word = self._find_words(self.message, spelling) is not None
        return measure_choice_of_span(self._tokens) if is_word else inf

    def measure_returned(self, text: str) -> float:
        """Return the cost of a value that was returned: which one of all of them."""
        if not any(spelling in self._returned_text for spelling in {text, json.dumps(text)[1:-1]}):
            return inf
        return log2(len(self._values)) if text in self._values else inf

    @cached_property
    def returned_numbers(self) -> int:
        """The number of different runs of four and more digits that were returned."""
        return len(frozenset(_NUMBER.findall(self._returned_text)))

    def _find_longest_run(self, run: "_Run", begin: int) -> int:
        """Return the end of the longest run of words from `begin` that the message contains."""
        if self._contains(run, begin, run.words):
            return run.words
        known, unknown = begin, begin + 1
        while unknown < run.words and self._contains(run, begin, unknown):
            known, unknown = unknown, begin + 2 * (unknown - begin)
        unknown = min(unknown, run.words)
        while unknown - known > 1:
            middle = (known + unknown) // 2
            is_known = self._contains(run, begin, middle)
            known, unknown = (middle, unknown) if is_known else (known, middle)
        return known

    def _find_longest_part(self, text: str) -> int:
        """Return the length of the longest beginning of `text` that the message contains."""
        known, unknown = 0, len(text) + 1
        while unknown - known > 1:
            middle = (known + unknown) // 2
            is_known = text[:middle] in self.message
            known, unknown = (middle, unknown) if is_known else (known, middle)
        return known

    def _contains(self, run: "_Run", begin: int, end: int) -> bool:
        return self._find_words(self._folded, run.get_folded(begin, end)) is not None

    def _measure_span(self, text: str, limit: float) -> float:
        bits = measure_choice_of_span(self._tokens)
        if self._find_words(self.message, text) is not None:
            return bits + _UNCHANGED
        place = self._find_words(self._folded, _fold_case(text))
        assert place is not None
        span = self.message[place : place + len(text)]
        for change, change_bits in _CASES:
            if change(span) == text:
                return bits + change_bits
        return bits + _SOME_CHANGED + _measure_changes(span, text, limit)

    def _find_words(self, message: str, text: str) -> int | None:
        """Return where `text` stands in the message, not beginning or ending inside a word."""
        place = -1
        for _ in range(_MAX_OCCURRENCES):
            place = message.find(text, place + 1)
            if place < 0:
                return None
            if _is_boundary(message, place) and _is_boundary(message, place + len(text)):
                return place
        return None

    @cached_property
    def _folded(self) -> str:
        return _fold_case(self.message)

    @cached_property
    def _word_code(self) -> WordCode:
        return WordCode(self.message)

    @cached_property
    def _outside_signs(self) -> frozenset[str]:
        return list_outside_signs(self.message)

    @cached_property
    def _tokens(self) -> int:
        return len(_TOKEN.findall(self.message))

    @cached_property
    def _returned_text(self) -> str:
        return "\n".join(self._returned)

    @cached_property
    def _values(self) -> frozenset[str]:
        chars_left = _MAX_RETURNED_CHARS
        values: set[str] = set()
        for text in reversed(self._returned):
            values.update(_list_values(text) if len(text) <= chars_left else ())
            chars_left -= len(text)
        return frozenset(values)


class _Run:
    """The words of a text, and their places in it."""

    def __init__(self, text: str) -> None:
        words = text.split(" ")
        self.words = len(words)
        self._text = text
        self._folded = _fold_case(text)
        self._ends = list(accumulate(map(len, words), initial=0))

    def get_text(self, begin: int, end: int) -> str:
        return self._text[self._ends[begin] + begin : self._ends[end] + end - 1]

    def get_folded(self, begin: int, end: int) -> str:
        return self._folded[self._ends[begin] + begin : self._ends[end] + end - 1]


def spell_number(number: float) -> str:
    """Spell a finite number as JSON does."""
    return json.dumps(number)


def _is_boundary(text: str, place: int) -> bool:
    """Tell whether no word goes on at `place`; text before and behind it may be missing."""
    around = text[max(place - 1, 0) : place + 1]
    return len(around) < 2 or not all(sign.isalnum() or sign == "_" for sign in around)


def _measure_changes(span: str, text: str, limit: float) -> float:
    """Return the cost of signs in another case: of not all of them, when they are too many."""
    changes = 0
    for sign, other in zip(span, text, strict=True):
        changes += sign != other
        if changes * _CHANGE_BITS > limit:
            break
    return measure_length(changes - 1) + changes * (log2(len(text)) + _CHANGE_BITS)


def _capitalize_words(text: str) -> str:
    return " ".join(word[:1].upper() + word[1:] for word in text.split(" "))


_CASES: Final = (
    (swap_first, -log2(0.15)),
    (_capitalize_words, -log2(0.09)),
    (str.lower, -log2(0.06)),
)
"""Usual changes of case as a whole, with their costs."""


def _fold_case(text: str) -> str:
    """Write a text without case, each sign by itself.

    The lower case of İ is two signs, and that of Σ depends on its place in a word.
    """
    return text.replace("İ", "I").lower().replace("ς", "σ")


def _list_values(text: str) -> Iterator[str]:
    """List the leaves of JSON, and of prose its lines, their parts and its words."""
    for leaf in _list_leaves(_parse(text)):
        if isinstance(leaf, str):
            yield from _list_phrases(leaf)
        elif isinstance(leaf, int | float) and not isinstance(leaf, bool):
            yield spell_number(leaf)


def _parse(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[", '"')):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _list_leaves(root: Any) -> Iterator[Any]:
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if isinstance(node, dict | list):
            nodes += node.values() if isinstance(node, dict) else node
        else:
            yield node


def _list_phrases(text: str) -> Iterator[str]:
    phrases = {text, *text.split()}
    if len(phrases) > 1:
        phrases.update(text.splitlines(), _SEPARATOR.split(text))
    phrases.update([phrase.strip(_EDGES) for phrase in phrases])
    return (phrase for phrase in phrases if len(phrase) <= _MAX_VALUE_CHARS)
