"""What readers of all formats share: a spoken turn, and the reason why a file cannot be read."""

import re

from functions.process_conversation.wire import SegmentIn

OWNER = frozenset({"me", "you"})
_TURN = re.compile(r"(?P<name>[^\W\d_][\w .'’-]{0,39}?)\s*:\s+(?P<words>.*\S.*)", re.DOTALL)


class Unreadable(ValueError):
    """Says in one line why a file is not imported."""


def turn(text: str) -> tuple[str, str] | None:
    """Split `Name: words`; None for anything else."""
    found = _TURN.fullmatch(text.strip())
    return (found["name"], found["words"].strip()) if found else None


def segment(words: str, *, speaker: str, start: float, end: float) -> SegmentIn:
    return SegmentIn(
        text=words,
        speaker=speaker[:64],
        is_user=speaker.casefold() in OWNER,
        start=start,
        end=max(start, end),
    )
