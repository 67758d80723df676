"""A transcript cut into chunks: what one search hit stands for."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import chain

from shared.domain.conversation import Segment
from shared.domain.value import value

PIECE_CHARS = 1_000
"""A longer turn is cut, so that a monologue is found as closely as a dialogue."""
OWNER = "User"


@value
class Chunk:
    """A turn, or a piece of a long one; segments are counted from 0."""

    segment: int
    speaker: str
    text: str


def chunks(segments: Sequence[Segment]) -> list[Chunk]:
    """Give each turn a chunk of its own; every word stands in one."""
    return list(chain.from_iterable(_pieces(n, segment) for n, segment in enumerate(segments)))


def line(segment: Segment) -> str:
    """Write a turn as people read it: who, then what."""
    return f"{speaker(segment)}: {segment.text.strip()}"


def speaker(segment: Segment) -> str:
    return OWNER if segment.is_user else segment.speaker


def _pieces(number: int, segment: Segment) -> Iterator[Chunk]:
    said = segment.text.strip()
    pieces = [said] if 0 < len(said) <= PIECE_CHARS else textwrap.wrap(said, PIECE_CHARS)
    for text in pieces:
        yield Chunk(segment=number, speaker=speaker(segment), text=text)
