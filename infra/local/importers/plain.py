"""Plain text: `Name: words` lines with or without a time, or else one segment a paragraph."""

import re
from collections.abc import Iterator

from functions.process_conversation.wire import SegmentIn
from infra.local.importers.said import Unreadable, segment, turn

SECONDS_A_WORD = 0.4
"""Where a text names no times, speech takes as long as it usually does."""

_TIME = r"[\[(]?(?:(?P<h>[0-9]{1,2}):)?(?P<m>[0-9]{1,2}):(?P<s>[0-9]{2})(?:[.,][0-9]+)?[\])]?"
_BEFORE = re.compile(rf"{_TIME}\s*[-–]?\s+(?P<rest>.*)")
_AFTER = re.compile(rf"(?P<name>[^:\[(]{{1,40}}?)\s*{_TIME}\s*:\s+(?P<rest>.*)")

Turn = tuple[str, str, float | None]


def segments(text: str) -> list[SegmentIn]:
    """Raises Unreadable when nothing is said."""
    lines = [line.strip() for line in text.splitlines()]
    first = next((line for line in lines if line), None)
    if first is None:
        raise Unreadable("it is empty")
    return list(_laid_out(_turns(lines) if _turn(first) else _paragraphs(text)))


def _turns(lines: list[str]) -> list[Turn]:
    """Read turns; a line that begins none goes on with the one before."""
    turns: list[Turn] = []
    for line in filter(None, lines):
        if begun := _turn(line):
            turns.append(begun)
        else:
            name, words, at = turns[-1]
            turns[-1] = (name, f"{words}\n{line}", at)
    return turns


def _turn(line: str) -> Turn | None:
    at = None
    if found := _AFTER.fullmatch(line):
        at, line = _seconds(found), f"{found['name']}: {found['rest']}"
    elif found := _BEFORE.fullmatch(line):
        at, line = _seconds(found), found["rest"]
    named = turn(line)
    return (*named, at) if named else None


def _seconds(found: re.Match[str]) -> float:
    return int(found["h"] or 0) * 3600.0 + int(found["m"]) * 60 + int(found["s"])


def _paragraphs(text: str) -> list[Turn]:
    paragraphs = re.split(r"\n\s*\n", "\n".join(text.splitlines()))
    return [("SPEAKER_00", each.strip(), None) for each in paragraphs if each.strip()]


def _laid_out(turns: list[Turn]) -> Iterator[SegmentIn]:
    clock = 0.0
    for name, words, at in turns:
        start = clock if at is None else at
        clock = round(start + SECONDS_A_WORD * len(words.split()), 1)
        yield segment(words, speaker=name, start=start, end=clock)
