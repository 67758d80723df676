"""What readers of all formats share: a spoken turn, and the reason why a file cannot be read."""

import re

from functions.process_conversation.library.conversation_schemas import SegmentIn

OWNER_NAMES = frozenset({"me", "you"})
_TURN = re.compile(r"(?P<name>[^\W\d_][\w .'’-]{0,39}?)\s*:\s+(?P<words>.*\S.*)", re.DOTALL)


class UnreadableFile(ValueError):
    """Says in one line why a file is not imported."""


def parse_turn(text: str) -> tuple[str, str] | None:
    """Split `Name: words`; None for anything else."""
    match = _TURN.fullmatch(text.strip())
    return (match["name"], match["words"].strip()) if match else None


def build_segment(words: str, *, speaker: str, start: float, end: float) -> SegmentIn:
    return SegmentIn(
        text=words,
        speaker=speaker[:64],
        is_user=speaker.casefold() in OWNER_NAMES,
        start=start,
        end=max(start, end),
    )
