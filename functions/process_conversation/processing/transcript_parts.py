"""Parts of a transcript: as much of it as a model reads at once, with the turns before it; pure.

Segments keep their numbers in all parts. One that is longer than a part is cut between words.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from functions.process_conversation.processing.task_owner import find_own_places
from shared.domain.conversations.conversation import Conversation
from shared.domain.value import positional_value, value
from shared.domain.wall_clock import write_wall_clock
from shared.models.windows import count_data_tokens

Line = Mapping[str, Any]
"""A segment, or a piece of one, as data for prompts."""
MAX_PART_TOKENS = 150_000
"""What a model reads of a transcript at once, however large its window is."""
MAX_OVERLAP_TURNS = 6
MAX_OVERLAP_TOKENS = 1_000
OVERLAP_SHARE = 8
"""At most this part of a part was read with the one before: an answer stands with its question."""
MAX_SPEAKER_CHARS = 60
MAX_LANGUAGE_CHARS = 35
"""Of the longest tag in BCP 47."""
_COMMA_TOKENS = 1
_MAX_CHARS_PER_TOKEN = 4


@positional_value
class Place:
    """A place in a transcript: before the character `offset` of the segment number `segment`."""

    segment: int = 0
    offset: int = 0

    @property
    def key(self) -> str:
        """Name it; empty for the beginning."""
        segment = f"-{self.segment}" if self != BEGINNING else ""
        return f"{segment}-{self.offset}" if self.offset else segment


BEGINNING = Place()


@value
class TranscriptPart:
    """What is read at once: `lines` of which the first `overlap` stand before `start`, up to `until`."""

    start: Place
    until: Place
    lines: tuple[Line, ...]
    overlap: int = 0
    is_last: bool = True


def build_lines(conversation: Conversation, own_names: Iterable[str] = ()) -> list[Line]:
    """Return all segments as data, with their numbers; `is_user` stands where the owner speaks."""
    segments = conversation.named_segments
    own_places = find_own_places(conversation, own_names)
    return [
        {
            "segment": n,
            "speaker": segment.speaker[:MAX_SPEAKER_CHARS],
            **({"is_user": True} if n in own_places else {}),
            "text": segment.text,
        }
        for n, segment in enumerate(segments)
    ]


def describe_context(conversation: Conversation, zone: ZoneInfo) -> Mapping[str, Any]:
    """Return what the data of a prompt says of a conversation beside its lines."""
    return {
        "started_at": write_wall_clock(conversation.started_at, zone),
        "time_zone": zone.key,
        "language": conversation.language[:MAX_LANGUAGE_CHARS],
    }


def take_part(lines: Sequence[Line], start: Place, max_tokens: int) -> TranscriptPart:
    """Return the part that begins at `start`, of at most so many tokens.

    It goes on by a character at least, so that an end is reached in the smallest window.
    """
    overlap = list_before(lines, start, min(max_tokens // OVERLAP_SHARE, MAX_OVERLAP_TOKENS))
    room = max_tokens - sum(map(_count_line, overlap))
    taken, until = _take_lines(lines, start, room)
    if not taken and start.segment < len(lines):
        piece = _cut_head(lines[start.segment], start.offset, room)
        taken, until = [piece], Place(start.segment, start.offset + len(piece["text"]))
    return TranscriptPart(
        start=start,
        until=until,
        lines=(*overlap, *taken),
        overlap=len(overlap),
        is_last=until.segment >= len(lines),
    )


def list_before(lines: Sequence[Line], start: Place, room: int = MAX_OVERLAP_TOKENS) -> list[Line]:
    """Return the last turns before `start` that fit; of one that is too long its last words."""
    taken: list[Line] = []
    n, end = start.segment, start.offset
    while len(taken) < MAX_OVERLAP_TURNS:
        if end == 0:
            n -= 1
            if n < 0:
                break
            end = len(lines[n]["text"])
        line = _cut(lines[n], 0, end)
        if _count_line(line) > room:
            tail = _cut_tail(lines[n], end, room)
            return [*([tail] if tail["text"] and not taken else []), *reversed(taken)]
        taken.append(line)
        room -= _count_line(line)
        end = 0
    return [*reversed(taken)]


def _take_lines(lines: Sequence[Line], start: Place, room: int) -> tuple[list[Line], Place]:
    """Take whole lines, and the rest of one that was begun."""
    taken: list[Line] = []
    n, offset = start.segment, start.offset
    while n < len(lines):
        line = _cut(lines[n], offset, len(lines[n]["text"]))
        room -= _count_line(line)
        if room < 0:
            break
        taken.append(line)
        n, offset = n + 1, 0
    return taken, Place(n, offset)


def _cut_head(line: Line, offset: int, room: int) -> Line:
    """Return as many words from `offset` on as fit; at least a character."""
    text = line["text"]
    low, high = offset + 1, min(len(text), offset + max(room, 1) * _MAX_CHARS_PER_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        if _count_line(_cut(line, offset, middle)) <= room:
            low = middle
        else:
            high = middle - 1
    spaces = (n + 1 for n in range(low - 1, offset, -1) if text[n].isspace())
    is_whole = low == len(text) or text[low - 1].isspace() or text[low].isspace()
    return _cut(line, offset, low if is_whole else next(spaces, low))


def _cut_tail(line: Line, end: int, room: int) -> Line:
    """Return the last words before `end`, as many as fit; perhaps none."""
    text = line["text"]
    low, high = max(0, end - max(room, 0) * _MAX_CHARS_PER_TOKEN), end
    while low < high:
        middle = (low + high) // 2
        if _count_line(_cut(line, middle, end)) <= room:
            high = middle
        else:
            low = middle + 1
    begins_word = low == 0 or text[low - 1].isspace()
    spaces = (n + 1 for n in range(low, end) if text[n].isspace())
    return _cut(line, low if begins_word else next(spaces, low), end)


def _cut(line: Line, start: int, end: int) -> Line:
    text = line["text"]
    return line if (start, end) == (0, len(text)) else {**line, "text": text[start:end]}


def _count_line(line: Line) -> int:
    return count_data_tokens(line) + _COMMA_TOKENS
