"""A transcript cut into overlapping chunks: what one search hit stands for."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import chain

from shared.domain.conversation import Segment
from shared.domain.value import value

WINDOW = 4
STEP = 2
PIECE_CHARS = 1_000
"""A longer turn is cut, so that a monologue is found as closely as a dialogue."""


@value
class Chunk:
    """A few turns in a row; segments are counted from 0, both ends included."""

    first_segment: int
    last_segment: int
    text: str


def chunks(segments: Sequence[Segment]) -> list[Chunk]:
    """Cut into windows of WINDOW turns, each STEP further; every word stands in one at least."""
    pieces = list(chain.from_iterable(_pieces(n, s) for n, s in enumerate(segments)))
    starts = range(0, max(len(pieces) - WINDOW + STEP, 1), STEP) if pieces else range(0)
    return [_chunk(pieces[start : start + WINDOW]) for start in starts]


def line(segment: Segment) -> str:
    """Write a turn as people read it: who, then what."""
    return f"{'User' if segment.is_user else segment.speaker}: {segment.text.strip()}"


def _pieces(number: int, segment: Segment) -> Iterator[tuple[int, str]]:
    if segment.text.strip():
        yield from ((number, part) for part in textwrap.wrap(line(segment), PIECE_CHARS))


def _chunk(pieces: Sequence[tuple[int, str]]) -> Chunk:
    return Chunk(
        first_segment=pieces[0][0],
        last_segment=pieces[-1][0],
        text="\n".join(text for _, text in pieces),
    )
