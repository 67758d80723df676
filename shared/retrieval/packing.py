"""What was found, as text to read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from shared.domain.conversation import Segment
from shared.domain.value import value
from shared.retrieval.chunking import line

NEIGHBOURS = 1
TURN_TOKENS, CHARS_PER_TOKEN = 4, 4
Turns = Mapping[int, float]
"""Segments, counted from 0, and how well each fits: higher is closer."""
Found = tuple[Sequence[Segment], Turns]


@value
class Passage:
    """Turns in a row, one `Speaker: text` a line; segments from 0, both ends included."""

    first_segment: int
    last_segment: int
    text: str


def pack(found: Sequence[Found], *, tokens: int) -> list[tuple[Passage, ...]]:
    """Choose the best turns of all conversations together, as many as `tokens` hold.

    A turn too long for what is left lets shorter ones pass. Returns each conversation's turns as
    passages in reading order, none for a conversation whose turns did not fit.
    """
    taken: list[set[int]] = [set() for _ in found]
    for _, which, segment in sorted(_ranked(found)):
        cost = tokens_of(found[which][0][segment])
        if cost <= tokens:
            tokens -= cost
            taken[which].add(segment)
    return [_joined(segments, turns) for (segments, _), turns in zip(found, taken, strict=True)]


def tokens_of(segment: Segment) -> int:
    """Estimate, rounded up, what a line of text costs a model."""
    return -(-len(line(segment)) // CHARS_PER_TOKEN) + TURN_TOKENS


def excerpts(segments: Sequence[Segment], turns: Turns, *, limit: int) -> tuple[Passage, ...]:
    """Show the best turns with their neighbours: at most `limit` passages, best first.

    Passages that meet become one, where the better one stood.
    """
    runs: list[tuple[tuple[float, int], int, int]] = []
    for turn in sorted(turns):
        rank = -turns[turn], turn
        first, last = _widen(turn, len(segments))
        if runs and first <= runs[-1][2] + 1:
            better, first, _ = runs.pop()
            rank = min(better, rank)
        runs.append((rank, first, last))
    return tuple(_passage(segments, first, last) for _, first, last in sorted(runs)[:limit])


def _ranked(found: Sequence[Found]) -> Iterator[tuple[float, int, int]]:
    for which, (_, turns) in enumerate(found):
        yield from ((-score, which, segment) for segment, score in turns.items())


def _joined(segments: Sequence[Segment], turns: Iterable[int]) -> tuple[Passage, ...]:
    ranges: list[tuple[int, int]] = []
    for turn in sorted(turns):
        if ranges and ranges[-1][1] == turn - 1:
            ranges[-1] = ranges[-1][0], turn
        else:
            ranges.append((turn, turn))
    return tuple(_passage(segments, first, last) for first, last in ranges)


def _widen(turn: int, count: int) -> tuple[int, int]:
    return max(turn - NEIGHBOURS, 0), min(turn + NEIGHBOURS, count - 1)


def _passage(segments: Sequence[Segment], first: int, last: int) -> Passage:
    text = "\n".join(line(segment) for segment in segments[first : last + 1])
    return Passage(first_segment=first, last_segment=last, text=text)
