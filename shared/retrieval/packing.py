"""What was found, as text to read: the best passages of a conversation with their neighbours."""

from collections.abc import Iterable, Sequence

from shared.domain.conversation import Segment
from shared.domain.value import value
from shared.retrieval.chunking import line

NEIGHBOURS = 1


@value
class Passage:
    """Turns in a row, one `Speaker: text` a line; segments from 0, both ends included."""

    first_segment: int
    last_segment: int
    text: str


def passages(
    segments: Sequence[Segment], found: Iterable[tuple[int, int]], *, limit: int
) -> tuple[Passage, ...]:
    """Turn segment ranges, best first, into at most `limit` passages, best first.

    Each gains its neighbouring turns; ranges that then meet become one, where the better one stood.
    """
    ranges: list[tuple[int, int]] = []
    for first, last in found:
        ranges = _add(ranges, _widen(first, last, len(segments)))
    return tuple(_passage(segments, first, last) for first, last in ranges[:limit])


def _widen(first: int, last: int, count: int) -> tuple[int, int]:
    return max(first - NEIGHBOURS, 0), min(last + NEIGHBOURS, count - 1)


def _add(ranges: list[tuple[int, int]], new: tuple[int, int]) -> list[tuple[int, int]]:
    met = [
        n for n, (first, last) in enumerate(ranges) if first <= new[1] + 1 and new[0] <= last + 1
    ]
    if not met:
        return [*ranges, new]
    joined = [new, *(ranges[n] for n in met)]
    whole = min(first for first, _ in joined), max(last for _, last in joined)
    kept = [whole if n == met[0] else old for n, old in enumerate(ranges)]
    return [old for n, old in enumerate(kept) if n not in met[1:]]


def _passage(segments: Sequence[Segment], first: int, last: int) -> Passage:
    text = "\n".join(line(segment) for segment in segments[first : last + 1])
    return Passage(first_segment=first, last_segment=last, text=text)
