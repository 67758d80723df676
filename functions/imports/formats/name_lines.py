"""Name lines: a speaker who stands on a line below or above the time, put beside it."""

import re
from collections.abc import Sequence

from functions.imports.formats.layouts import CLOCK_LINE

MAX_NEW_SHARE = 0.7
"""The largest share of lines that stand there but once, where they are to be names."""
_NAME = re.compile(r"[^\W\d_][^.!?…:;,。？！\n]{0,59}:?")
MAX_WORDS = 5
BELOW, ABOVE = 1, -1


def join_name_lines(lines: Sequence[str]) -> list[str]:
    """Write `00:00`, `Ann` and words on three lines as `00:00 Ann` and words, if all times stand so."""
    times = [at for at, line in enumerate(lines) if CLOCK_LINE.fullmatch(line)]
    for side in (BELOW, ABOVE):
        are_named = bool(times) and all(_has_name(lines, at, side) for at in times)
        if are_named and _are_names([lines[at + side] for at in times]):
            return _join(lines, times, side)
    return list(lines)


def _has_name(lines: Sequence[str], at: int, side: int) -> bool:
    """Tell whether words follow time and name, and whether nothing belongs to the name from above."""
    name, words, before = at + side, max(at, at + side) + 1, min(at, at + side) - 1
    is_inside = name >= 0 and words < len(lines)
    is_first = side == BELOW or before < 0 or not lines[before]
    return is_inside and is_first and bool(_NAME.fullmatch(lines[name])) and bool(lines[words])


def _are_names(found: Sequence[str]) -> bool:
    """Tell whether lines come again as speakers do, or are written as names are."""
    is_repeated = len(set(found)) <= MAX_NEW_SHARE * len(found)
    words = [name.rstrip(":").split() for name in found]
    is_written = all(word[0].isupper() or word.isdecimal() for name in words for word in name)
    return (is_repeated or is_written) and max(map(len, words)) <= MAX_WORDS


def _join(lines: Sequence[str], times: Sequence[int], side: int) -> list[str]:
    joined = list(lines)
    for at in times:
        joined[at] = f"{lines[at]} {lines[at + side]}"
        joined[at + side] = ""
    return joined
