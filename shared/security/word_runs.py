"""Runs of words that open a wallet: 12, 15, 18, 21 or 24 short words without a sentence between them.

The words themselves are not known here: lists of nine languages are in use (BIP-39). Prose has a word of two
letters in nearly every such run, or another number of words.

Also called: seed phrase, mnemonic, BIP-39.
"""

import re
from bisect import bisect, bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

COUNTS: Final = (12, 15, 18, 21, 24)
_ACCENTS = "\u0300-\u036f"
_WORD = (
    "[\u4e00-\u9fff]|[\u3040-\u309f\u3099\u309a]{2,10}|[\uac00-\ud7a3]{1,6}|[\u1100-\u11ff]{2,18}"
    rf"|(?:[^\W\d_\u1100-\u11ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3][{_ACCENTS}]?){{3,8}}"
)
_ITEM: Final = re.compile(
    rf"(?:[0-9]{{1,2}}[.):]?[ \t]{{0,3}})?(?<![^\W\d_])(?P<word>{_WORD})(?![^\W_{_ACCENTS}])"
)
_MAX_RUN_CHARS: Final = 400
_SEPARATOR: Final = re.compile(r"[,;]?[ \t]{0,3}\r?\n?[ \t]{0,3}")


def find_word_runs(
    text: str, names: Sequence[tuple[int, int]], *, within: int, links: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Yield the spans of runs that begin behind a name, or end before one, within so many characters.

    `names` are spans, in their order; a name, and a link such as `is` behind it, is no part of a run.
    """
    starts = [start for start, _ in names]
    linked = {*links}
    for begin, stop in _list_surroundings(names, within + _MAX_RUN_CHARS):
        for run in _split(text, (begin, stop), names[bisect_left(starts, begin) :], linked):
            start, end = run[0][0], run[-1][1]
            at = bisect(starts, start)
            is_behind = at > 0 and start - names[at - 1][1] <= within
            is_before = at < len(names) and starts[at] - end <= within
            if len(run) in COUNTS and (is_behind or is_before):
                yield start, end


def _list_surroundings(names: Sequence[tuple[int, int]], reach: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text around names, which do not overlap."""
    begin, stop = max(names[0][0] - reach, 0), names[0][1] + reach
    for start, end in names[1:]:
        if start - reach > stop:
            yield begin, stop
            begin = start - reach
        stop = max(end + reach, stop)
    yield begin, stop


def _split(
    text: str, part: tuple[int, int], names: Sequence[tuple[int, int]], links: set[str]
) -> Iterator[list[tuple[int, int]]]:
    """Yield the longest runs of words in a part of a text, as spans, which names interrupt."""
    run, end, name = list[tuple[int, int]](), -1, 0
    for item in _ITEM.finditer(text, *part):
        start, stop = item.span("word")
        while name < len(names) and names[name][1] <= start:
            name += 1
        is_name = name < len(names) and names[name][0] < stop
        if run and (is_name or not _SEPARATOR.fullmatch(text, end, item.start())):
            yield run
            run = []
        if not is_name and (run or item["word"].lower() not in links):
            run.append((start, stop))
        end = stop
    if run:
        yield run
