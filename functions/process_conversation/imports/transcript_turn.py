"""Transcript turns: the `Name: words` form that all readers share, and the error they raise."""

import re

from functions.process_conversation.library.conversation_schemas import SegmentIn

OWNER_NAMES = frozenset({"me", "you"})
_TURN = re.compile(r"(?P<name>[^\W\d_][\w .'’-]{0,39}?)\s*:\s+(?P<words>.*\S.*)", re.DOTALL)


class UnreadableFile(ValueError):
    """A file that is not imported; the message is the reason, in one line."""


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
