"""SRT and WebVTT: cues with times; who speaks stands in a voice tag or before a colon."""

import html
import re
from collections.abc import Iterator

from functions.process_conversation.wire import SegmentIn
from infra.local.importers.said import Unreadable, segment, turn

_TIME = r"(?:([0-9]{1,3}):)?([0-9]{1,2}):([0-9]{2})[.,]([0-9]{3})"
_TIMING = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_TAG = re.compile(r"</?[A-Za-z0-9][^<>]*>")

Cue = tuple[float, float, list[str]]


def segments(text: str) -> list[SegmentIn]:
    """Raises Unreadable when there is no cue with words."""
    found = [said for cue in _cues(text) for said in _said(cue)]
    if not found:
        raise Unreadable("it has no cues with words")
    return found


def _cues(text: str) -> Iterator[Cue]:
    """A cue is a line of times and what follows up to an empty line; all else is no speech."""
    cue: Cue | None = None
    for line in [*text.splitlines(), ""]:
        if cue is None:
            cue = _timed(line)
        elif line.strip():
            cue[2].append(line.strip())
        else:
            yield cue
            cue = None


def _timed(line: str) -> Cue | None:
    found = _TIMING.fullmatch(line)
    if found is None:
        return None
    numbers = [int(number or 0) for number in found.groups()]
    return _seconds(*numbers[:4]), _seconds(*numbers[4:]), []


def _seconds(hours: int, minutes: int, seconds: int, milliseconds: int) -> float:
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000


def _said(cue: Cue) -> Iterator[SegmentIn]:
    start, end, lines = cue
    before, *voices = _VOICE.split("\n".join(lines))
    named = zip(["", *voices[::2]], [before, *voices[1::2]], strict=True)
    for voice, marked in named:
        words = html.unescape(_TAG.sub("", marked)).strip()
        speaker, words = (voice.strip(), words) if voice else turn(words) or ("", words)
        if words:
            yield segment(words, speaker=speaker or "SPEAKER_00", start=start, end=end)
