"""Subtitles, as SRT, WebVTT, SBV or SubStation Alpha: cues with times, the speaker in a voice tag or before a colon.

Also called: captions.
"""

import html
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePosixPath

from functions.imports.formats.drafts import Contents, Draft, TextFile, Turn, is_owner_name
from functions.imports.formats.titles import find_start
from shared.domain.value import value
from shared.library.decoding import UnreadableFile

SUFFIXES = (".srt", ".vtt", ".sbv", ".ass", ".ssa")
STYLED_MARK = "[Script Info]"
"""The first line of SubStation Alpha."""
_SAMPLE_LINES = 40
MIN_NAMED_SHARE = 0.5
"""The least share of cues that begin with a name, where a colon is to mean a speaker."""
MAX_NEW_SHARE = 0.7
"""The largest share of cues whose first line stands above no other, where it is to be a name."""
INSTANT_S = 0.05
_TIME = r"(?:([0-9]{1,3}):)?([0-9]{1,2}):([0-9]{1,2})[.,]([0-9]{1,3})"
_TIMING_LINE = re.compile(rf"\s*{_TIME}(?:\s*-->\s*|,){_TIME}(?:\s.*)?")
_VOICE = re.compile(r"<v(?:\.[^\s>]{0,100})?\s{1,9}([^<>\n]{1,200})>")
_TAG = re.compile(r"</?[A-Za-z0-9][^<>]*>|\{\\[^{}]*\}")
_CHANGE = re.compile(r">>\s*")
"""What captions put before the words of another speaker."""
_CUE_NAME = re.compile(r"\d+\s+\"(?P<name>[^\"\n]{1,200})\"(?:\s.*)?")
"""The line above the times of a cue, where a program writes the speaker there."""
SPEAKER_MARKS = (">>", "-", "–", "—")
"""What stands before the names of those who speak in one cue."""
_NAMED = re.compile(
    r"(?:(?:>>|[-–—])\s*)?(?:\[(?P<label>[^\[\]\n]{1,200})\](?:\s*:\s*|\n)"
    r"|(?P<name>(?:[^\W\d_]|\+\d)[^:\n]{0,199}?)\s*:\s+)(?P<words>\S.*)",
    re.DOTALL,
)


_LABELLED = re.compile(
    r"(?:\[(?P<label>[^\[\]\n]{1,200})\]|\((?P<name>[^()\n]{1,200})\))\s+(?P<words>\S.*)", re.DOTALL
)
"""Words behind brackets, in which stands a name if it comes again; else it is a sound."""


@value
class Cue:
    start: float
    end: float
    lines: list[str]
    speaker: str = ""


def is_cues(file: TextFile) -> bool:
    """Tell whether a file is called so, or one of its first lines has the times of a cue.

    A text that begins with a bracket is a chat or a transcript, which may quote cues.
    """
    start = file.text.lstrip()
    if start.startswith(("{", "[")):
        return start.startswith(STYLED_MARK)
    sample = file.text.splitlines()[:_SAMPLE_LINES]
    return PurePosixPath(file.name).suffix.lower() in SUFFIXES or any(
        map(_TIMING_LINE.fullmatch, sample)
    )


def read_cues(file: TextFile) -> Contents:
    """Read the cues of a file. Raises UnreadableFile."""
    styled = [*_parse_styled(file.text.splitlines())]
    cues = styled or _name_first_lines([*_parse_cues(file.text)])
    turns = _drop_repeated([turn for cue in cues for turn in _parse_cue(cue)])
    if not turns:
        raise UnreadableFile("it has no cues with words")
    return Contents(
        conversations=[Draft(turns=_name_speakers(turns), started_at=find_start(file.stem, []))]
    )


def _parse_cues(text: str) -> Iterator[Cue]:
    """Yield cues: a line of times and the lines up to the next empty one, or to the next times; skip the rest."""
    cue: Cue | None = None
    for above, line in pairwise(["", *text.splitlines(), ""]):
        following = _parse_timing(line)
        if following and (named := _CUE_NAME.fullmatch(above.strip())):
            following = replace(following, speaker=named["name"])
        if cue and (following or not line.strip()) and (cue.lines or not line):
            yield cue
            cue = following
        elif cue is None or following:
            cue = following
        elif line.strip():
            cue.lines.append(line.strip())


def _parse_styled(lines: Sequence[str]) -> Iterator[Cue]:
    """Yield the cues of SubStation Alpha, whose columns a line names; words stand in the last one."""
    columns: list[str] = []
    for line in lines:
        kind, _, values = line.partition(":")
        if kind == "Format":
            columns = [name.strip() for name in values.split(",")]
        elif kind == "Dialogue" and columns and columns[-1] == "Text":
            cells = dict(zip(columns, values.strip().split(",", len(columns) - 1), strict=False))
            timing = _parse_timing(f"{cells.get('Start')},{cells.get('End')}")
            words = re.sub(r"\\[Nn]", "\n", cells.get("Text", ""))
            if timing and words.strip():
                name = cells.get("Name", "").strip()
                yield replace(timing, speaker=name, lines=[words])


def _parse_timing(line: str) -> Cue | None:
    match = _TIMING_LINE.fullmatch(line)
    if match is None:
        return None
    groups = match.groups()
    return Cue(start=_to_seconds(*groups[:4]), end=_to_seconds(*groups[4:]), lines=[])


def _to_seconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> float:
    milliseconds = int(f"{fraction:0<3}")
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + milliseconds / 1000


def _name_first_lines(cues: Sequence[Cue]) -> list[Cue]:
    """Put a colon behind first lines that are names: all cues have one, and they come again and again."""
    firsts = {cue.lines[0] for cue in cues if len(cue.lines) > 1}
    is_named = cues and all(len(cue.lines) > 1 for cue in cues)
    if not is_named or len(firsts) > MAX_NEW_SHARE * len(cues) or any(map(_NAMED.match, firsts)):
        return list(cues)
    return [
        replace(cue, lines=[f"{cue.lines[0].rstrip(':')}: {cue.lines[1]}", *cue.lines[2:]])
        for cue in cues
    ]


def _parse_cue(cue: Cue) -> Iterator[Turn]:
    unvoiced, *voices = _VOICE.split("\n".join(cue.lines))
    voiced = zip([cue.speaker, *voices[::2]], [unvoiced, *voices[1::2]], strict=True)
    for voice, markup in voiced:
        if words := html.unescape(_TAG.sub("", markup)).strip():
            yield _build_turn(words, voice.strip(), cue)


def _drop_repeated(turns: Sequence[Turn]) -> list[Turn]:
    """Leave out lines that a rolling caption shows once more, above the next or for an instant."""
    kept: list[Turn] = []
    last = ""
    for turn in turns:
        first, *rest = turn.text.split("\n")
        is_instant = (turn.end or 0.0) - (turn.start or 0.0) <= INSTANT_S
        lines = rest if first == last and (rest or is_instant) else [first, *rest]
        if lines:
            kept.append(replace(turn, text="\n".join(lines)))
            last = lines[-1]
    return kept


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
    found = {pattern: _find_names(turns, pattern) for pattern in (_NAMED, _LABELLED)}
    pattern = next((pattern for pattern, names in found.items() if names), None)
    if pattern is None or any(turn.speaker for turn in turns):
        return list(turns)
    named: list[Turn] = []
    for turn in turns:
        for text in _divide(turn.text, pattern, found[pattern]):
            match, change = pattern.fullmatch(text), _CHANGE.match(text)
            goes_on = named and not change
            speaker = _get_name(match) if match else named[-1].speaker if goes_on else ""
            words = match["words"] if match else text[change.end() :] if change else text
            named.append(_build_turn(words, speaker, turn))
    return named


def _find_names(turns: Sequence[Turn], pattern: re.Pattern[str]) -> set[str]:
    """Return the names with which cues begin; none where too few do, or what stands in brackets are sounds."""
    names = [_get_name(match) for turn in turns if (match := pattern.fullmatch(turn.text))]
    are_names = pattern is _NAMED or len(set(names)) <= MAX_NEW_SHARE * len(names)
    return set(names) if are_names and len(names) >= MIN_NAMED_SHARE * len(turns) else set()


def _get_name(match: re.Match[str]) -> str:
    return str(match["label"] or match["name"])


def _divide(text: str, pattern: re.Pattern[str], names: Collection[str]) -> list[str]:
    """Divide the words of a cue at the lines with which other speakers begin."""
    parts: list[str] = []
    for line in text.split("\n"):
        match = pattern.fullmatch(line)
        is_marked = line.startswith(SPEAKER_MARKS)
        if not parts or (match and (is_marked or _get_name(match) in names)):
            parts.append(line)
        else:
            parts[-1] += f"\n{line}"
    return parts
