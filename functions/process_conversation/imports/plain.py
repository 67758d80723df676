"""Plain text reader: `Name: words` lines with or without times, or one segment a paragraph."""

import re
from collections.abc import Iterator

from functions.process_conversation.imports.transcript_turn import (
    UnreadableFile,
    build_segment,
    parse_turn,
)
from functions.process_conversation.library.conversation_schemas import SegmentIn

SECONDS_PER_WORD = 0.4
"""The usual length of speech, for texts without times."""

_TIME = r"[\[(]?(?:(?P<h>[0-9]{1,2}):)?(?P<m>[0-9]{1,2}):(?P<s>[0-9]{2})(?:[.,][0-9]+)?[\])]?"
_TIME_BEFORE_NAME = re.compile(rf"{_TIME}\s*[-–]?\s+(?P<rest>.*)")
_TIME_AFTER_NAME = re.compile(rf"(?P<name>[^:\[(]{{1,40}}?)\s*{_TIME}\s*:\s+(?P<rest>.*)")

Turn = tuple[str, str, float | None]


def parse_segments(text: str) -> list[SegmentIn]:
    """Parse turns or paragraphs into segments. Raises UnreadableFile for an empty text."""
    lines = [line.strip() for line in text.splitlines()]
    first = next((line for line in lines if line), None)
    if first is None:
        raise UnreadableFile("it is empty")
    return list(
        _build_timed_segments(
            _parse_turns(lines) if _parse_turn(first) else _split_paragraphs(text)
        )
    )


def _parse_turns(lines: list[str]) -> list[Turn]:
    """Parse turns; a line that begins no turn continues the one before."""
    turns: list[Turn] = []
    for line in filter(None, lines):
        if new_turn := _parse_turn(line):
            turns.append(new_turn)
        else:
            name, words, at = turns[-1]
            turns[-1] = (name, f"{words}\n{line}", at)
    return turns


def _parse_turn(line: str) -> Turn | None:
    at = None
    if match := _TIME_AFTER_NAME.fullmatch(line):
        at, line = _to_seconds(match), f"{match['name']}: {match['rest']}"
    elif match := _TIME_BEFORE_NAME.fullmatch(line):
        at, line = _to_seconds(match), match["rest"]
    name_and_text = parse_turn(line)
    return (*name_and_text, at) if name_and_text else None


def _to_seconds(match: re.Match[str]) -> float:
    return int(match["h"] or 0) * 3600.0 + int(match["m"]) * 60 + int(match["s"])


def _split_paragraphs(text: str) -> list[Turn]:
    paragraphs = re.split(r"\n\s*\n", "\n".join(text.splitlines()))
    return [
        ("SPEAKER_00", paragraph.strip(), None) for paragraph in paragraphs if paragraph.strip()
    ]


def _build_timed_segments(turns: list[Turn]) -> Iterator[SegmentIn]:
    next_start_s = 0.0
    for name, words, at in turns:
        start = next_start_s if at is None else at
        next_start_s = round(start + SECONDS_PER_WORD * len(words.split()), 1)
        yield build_segment(words, speaker=name, start=start, end=next_start_s)
