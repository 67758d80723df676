"""SRT and WebVTT reader: cues with times, the speaker in a voice tag or before a colon."""

import html
import re
from collections.abc import Iterator

from functions.process_conversation.imports.transcript_turn import (
    UnreadableFile,
    build_segment,
    parse_turn,
)
from functions.process_conversation.library.conversation_schemas import SegmentIn

_TIME = r"(?:([0-9]{1,3}):)?([0-9]{1,2}):([0-9]{2})[.,]([0-9]{3})"
_TIMING_LINE = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?")
_VOICE = re.compile(r"<v(?:\.[^\s>]{0,100})?\s{1,9}([^<>\n]{1,200})>")
_TAG = re.compile(r"</?[A-Za-z0-9][^<>]*>")

Cue = tuple[float, float, list[str]]


def parse_segments(text: str) -> list[SegmentIn]:
    """Parse cues into segments. Raises UnreadableFile if no cue has words."""
    result = [cue_segment for cue in _parse_cues(text) for cue_segment in _parse_cue(cue)]
    if not result:
        raise UnreadableFile("it has no cues with words")
    return result


def _parse_cues(text: str) -> Iterator[Cue]:
    """Yield cues: a line of times and the lines up to the next empty one; skip the rest."""
    cue: Cue | None = None
    for line in [*text.splitlines(), ""]:
        if cue is None:
            cue = _parse_timing(line)
        elif line.strip():
            cue[2].append(line.strip())
        else:
            yield cue
            cue = None


def _parse_timing(line: str) -> Cue | None:
    match = _TIMING_LINE.fullmatch(line)
    if match is None:
        return None
    numbers = [int(number or 0) for number in match.groups()]
    return _to_seconds(*numbers[:4]), _to_seconds(*numbers[4:]), []


def _to_seconds(hours: int, minutes: int, seconds: int, milliseconds: int) -> float:
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000


def _parse_cue(cue: Cue) -> Iterator[SegmentIn]:
    start, end, lines = cue
    unvoiced, *voices = _VOICE.split("\n".join(lines))
    voiced = zip(["", *voices[::2]], [unvoiced, *voices[1::2]], strict=True)
    for voice, markup in voiced:
        words = html.unescape(_TAG.sub("", markup)).strip()
        speaker, words = (voice.strip(), words) if voice else parse_turn(words) or ("", words)
        if words:
            yield build_segment(words, speaker=speaker or "SPEAKER_00", start=start, end=end)
