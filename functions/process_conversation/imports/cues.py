"""SRT and WebVTT: cues with times, the speaker in a voice tag or before a colon."""

import html
import re
from collections.abc import Collection, Iterator, Sequence

from functions.process_conversation.imports.drafts import (
    Contents,
    Draft,
    Turn,
    UnreadableFile,
    is_owner_name,
)
from functions.process_conversation.imports.titles import find_start
from shared.domain.value import value

MIN_NAMED_SHARE = 0.5
"""The least share of cues that begin with a name, where a colon is to mean a speaker."""
_TIME = r"(?:([0-9]{1,3}):)?([0-9]{1,2}):([0-9]{2})[.,]([0-9]{3})"
TIMING_LINE = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?")
_VOICE = re.compile(r"<v(?:\.[^\s>]{0,100})?\s{1,9}([^<>\n]{1,200})>")
_TAG = re.compile(r"</?[A-Za-z0-9][^<>]*>|\{\\[^{}]*\}")
_NAMED = re.compile(
    r"(?:>>\s*)?(?:\[(?P<label>[^\[\]\n]{1,200})\](?:\s*:\s*|\n)"
    r"|(?P<name>(?:[^\W\d_]|\+\d)[^:\n]{0,199}?)\s*:\s+)(?P<words>\S.*)",
    re.DOTALL,
)


@value
class Cue:
    start: float
    end: float
    lines: list[str]


def read_cues(name: str, text: str) -> Contents:
    """Read a file of cues; `name` is the file's, without suffix. Raises UnreadableFile."""
    turns = [turn for cue in _parse_cues(text) for turn in _parse_cue(cue)]
    if not turns:
        raise UnreadableFile("it has no cues with words")
    return Contents(
        conversations=[Draft(turns=_name_speakers(turns), started_at=find_start(name, []))]
    )


def _parse_cues(text: str) -> Iterator[Cue]:
    """Yield cues: a line of times and the lines up to the next empty one; skip the rest."""
    cue: Cue | None = None
    for line in [*text.splitlines(), ""]:
        if cue is None:
            cue = _parse_timing(line)
        elif line.strip():
            cue.lines.append(line.strip())
        else:
            yield cue
            cue = None


def _parse_timing(line: str) -> Cue | None:
    match = TIMING_LINE.fullmatch(line)
    if match is None:
        return None
    numbers = [int(number or 0) for number in match.groups()]
    return Cue(start=_to_seconds(*numbers[:4]), end=_to_seconds(*numbers[4:]), lines=[])


def _to_seconds(hours: int, minutes: int, seconds: int, milliseconds: int) -> float:
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000


def _parse_cue(cue: Cue) -> Iterator[Turn]:
    unvoiced, *voices = _VOICE.split("\n".join(cue.lines))
    voiced = zip(["", *voices[::2]], [unvoiced, *voices[1::2]], strict=True)
    for voice, markup in voiced:
        if words := html.unescape(_TAG.sub("", markup)).strip():
            yield _build_turn(words, voice.strip(), cue)


def _build_turn(words: str, speaker: str, times: Cue | Turn) -> Turn:
    return Turn(
        text=words,
        speaker=speaker,
        start=times.start,
        end=times.end,
        is_user=is_owner_name(speaker),
    )


def _name_speakers(turns: Sequence[Turn]) -> list[Turn]:
    """Take names before colons or in brackets, if most cues have one; a cue without one goes on."""
    matches = [match for turn in turns if (match := _NAMED.fullmatch(turn.text))]
    if any(t.speaker for t in turns) or len(matches) < MIN_NAMED_SHARE * len(turns):
        return list(turns)
    names = {_get_name(match) for match in matches}
    named: list[Turn] = []
    for turn in turns:
        for text in _divide(turn.text, names):
            match = _NAMED.fullmatch(text)
            speaker = _get_name(match) if match else named[-1].speaker if named else ""
            named.append(_build_turn(match["words"] if match else text, speaker, turn))
    return named


def _get_name(match: re.Match[str]) -> str:
    return str(match["label"] or match["name"])


def _divide(text: str, names: Collection[str]) -> list[str]:
    """Divide the words of a cue at the lines with which other speakers begin."""
    parts: list[str] = []
    for line in text.split("\n"):
        match = _NAMED.fullmatch(line)
        if not parts or (match and _get_name(match) in names):
            parts.append(line)
        else:
            parts[-1] += f"\n{line}"
    return parts
