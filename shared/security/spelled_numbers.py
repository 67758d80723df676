"""Numbers said digit by digit in words: `zero seven seven …`, `null, eins, sieben …`, `一三八一二…`.

The digits of many languages are data (digit_words.json). Counting up or down is no number.

Also called: spoken digits, spelled-out numbers.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Final

from shared.security.plain_form import PlainForm

_WORDS: Final[Mapping[str, Any]] = json.loads(
    Path(__file__).with_name("digit_words.json").read_text("utf-8")
)
MIN_CODE_WORDS: Final = 3
_MIN_WORDS: Final = 9
_MIN_WORDS_BEHIND_ZERO: Final = 6
"""Few counts and scores begin with a zero; of those in pairs, such as `zéro six douze`, a number has six words."""
_MAX_WORDS: Final = 20
_COUNTING: Final = 0.85
"""Of the steps from digit to digit: as many of 1 up, or of 1 down, are counting."""
_SEPARATOR: Final = r"(?:[ ]?[,.–-][ ]?|[ ]\n?|\n)"
_WORD: Final = re.compile(r"[^\s,.–-]+")
_SIGNS: Final = "〇一二三四五六七八九"
_VALUES: Final = dict(zip(_SIGNS, range(10), strict=True)) | {"零": 0, "幺": 1, "ゼロ": 0}
_SIGN_RUN: Final = re.compile(rf"(?:[{_SIGNS}零幺]|ゼロ){{7,20}}")
_SIGN: Final = re.compile(r"ゼロ|.")


def find_spelled_numbers(plain: PlainForm, lowered: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of numbers that nobody would count so; `lowered` is the text in small letters."""
    for run in _compile_run().finditer(lowered):
        for start, end in _choose_words(lowered, *run.span()):
            if _is_number(_WORD.findall(lowered, start, end)):
                yield start, end
    if plain.words != plain.text:
        for signs in _SIGN_RUN.finditer(plain.text):
            if not _is_counting([_VALUES[sign] for sign in _SIGN.findall(signs[0])]):
                yield signs.span()


def match_spelled_code(lowered: str, start: int) -> int | None:
    """Return where digits in words end that stand there, where they are enough for a code."""
    run = _compile_run().match(lowered, start)
    spans = _choose_words(lowered, *run.span()) if run else ()
    return next((end for begin, end in spans if begin == start), None)


def _choose_words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the longest part of a run whose words are of one language: `to`, `on` and `sex` are numbers elsewhere."""
    said = frozenset(_WORD.findall(text, start, end))
    if any(said <= known for known in _load_languages()):
        yield start, end
        return
    words = [word.span() for word in _WORD.finditer(text, start, end)]
    runs = (
        [words[at] for at, _ in group]
        for known in _load_languages()
        for is_known, group in groupby(
            enumerate(text[slice(*word)] in known for word in words), key=lambda each: each[1]
        )
        if is_known
    )
    longest = max((list(run) for run in runs), key=len, default=[])
    if len(longest) >= MIN_CODE_WORDS:
        yield longest[0][0], longest[-1][1]


def _is_number(words: Sequence[str]) -> bool:
    values = [value for word in words if (value := _load_values().get(word)) is not None]
    least = _MIN_WORDS_BEHIND_ZERO if _load_values().get(words[0]) == 0 else _MIN_WORDS
    return len(words) >= least and len(set(values)) > 1 and not _is_counting(values)


def _is_counting(values: Sequence[int]) -> bool:
    steps = [after - before for before, after in pairwise(values)]
    return max(steps.count(1), steps.count(-1)) >= _COUNTING * len(steps)


@cache
def _load_values() -> Mapping[str, int]:
    """Return what each word is worth; words such as `double` and `twenty` are worth none."""
    return {
        word: value
        for language in _WORDS.values()
        for value, words in enumerate(language["digits"])
        for word in words
    }


@cache
def _load_languages() -> Sequence[frozenset[str]]:
    return [
        frozenset(word for words in (*language["digits"], language["more"]) for word in words)
        for language in _WORDS.values()
    ]


@cache
def _compile_run() -> re.Pattern[str]:
    """Compile a row of such words. The first begins and ends as one of them may: which it is, _choose_words() tells."""
    words = {word for known in _load_languages() for word in known}
    first = rf"[{''.join({word[0] for word in words})}](?<![^\W_].)(?:{_build_any({word[1:] for word in words})})"
    word = rf"(?:{_build_any(words)})(?![^\W_])"
    return re.compile(
        rf"{first}(?![^\W_])(?:{_SEPARATOR}{word}){{{MIN_CODE_WORDS - 1},{_MAX_WORDS - 1}}}+"
    )


def _build_any(words: Collection[str]) -> str:
    """Build the pattern of words; those of one first letter stand together, since most words are none."""
    ordered = sorted(words, key=lambda word: (word[:1], -len(word)))
    groups = groupby(ordered, key=lambda word: word[:1])
    return "|".join(f"{first}(?:{'|'.join(word[1:] for word in group)})" for first, group in groups)
