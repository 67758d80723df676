"""Packing of search hits: the passages that fit a token budget.

Also called: context window, context expansion, small-to-big retrieval.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from shared.domain.conversations.conversation import Segment
from shared.domain.value import value
from shared.retrieval.chunking import format_turn

NEIGHBOUR_TURNS = 1
PASSAGE_SHARE = 60
MAX_PASSAGE_CHARS = 1_200
"""A turn is shown with its neighbours, together a 60th of their conversation and at most so many characters: in
an hour's meeting an answer spreads over minutes, in a chat of a page it is a line."""
TURN_OVERHEAD_TOKENS, CHARS_PER_TOKEN = 4, 4
TurnScores = Mapping[int, float]
"""Scores by segment, counted from 0: higher is closer."""
ScoredTranscript = tuple[Sequence[Segment], TurnScores]


@value
class Passage:
    """Turns in a row, one `Speaker: text` a line; segments from 0, both ends included."""

    first_segment: int
    last_segment: int
    text: str


def pack(transcripts: Sequence[ScoredTranscript], *, tokens: int) -> list[tuple[Passage, ...]]:
    """Choose the best turns of all conversations together, each with its neighbours, as many as `tokens` hold.

    A turn too long for the rest of the budget is skipped for shorter ones. Returns each
    conversation's turns as passages in reading order, none where no turn fits.
    """
    selected_turns: list[set[int]] = [set() for _ in transcripts]
    measure = cache(lambda which: _measure_passage(transcripts[which][0]))
    for _, which, segment in sorted(_rank_turns(transcripts)):
        if tokens <= TURN_OVERHEAD_TOKENS:
            break
        segments, selected = transcripts[which][0], selected_turns[which]
        for turn in _grow_passage(segments, segment, chars=measure(which)):
            cost = 0 if turn in selected else estimate_turn_tokens(segments[turn])
            if cost > tokens:
                break
            tokens -= cost
            selected.add(turn)
    return [
        _merge_adjacent(segments, turns)
        for (segments, _), turns in zip(transcripts, selected_turns, strict=True)
    ]


def estimate_turn_tokens(segment: Segment) -> int:
    """Estimate, rounded up, what a line of text costs a model."""
    return -(-len(format_turn(segment)) // CHARS_PER_TOKEN) + TURN_OVERHEAD_TOKENS


def choose_excerpts(turns: TurnScores, *, count: int, limit: int) -> list[range]:
    """Choose the best turns of `count` with their neighbours: at most `limit` stretches, best first.

    Stretches that meet become one, where the better one stood.
    """
    runs: list[tuple[tuple[float, int], int, int]] = []
    for turn in sorted(turns):
        rank = -turns[turn], turn
        first, last = _widen(turn, count)
        if runs and first <= runs[-1][2] + 1:
            better, first, _ = runs.pop()
            rank = min(better, rank)
        runs.append((rank, first, last))
    return [range(first, last + 1) for _, first, last in sorted(runs)[:limit]]


def build_passage(stretch: range, segments: Iterable[Segment]) -> Passage:
    """Build a passage of the turns of a stretch."""
    text = "\n".join(map(format_turn, segments))
    return Passage(first_segment=stretch[0], last_segment=stretch[-1], text=text)


def _rank_turns(transcripts: Sequence[ScoredTranscript]) -> Iterator[tuple[float, int, int]]:
    for which, (_, turns) in enumerate(transcripts):
        yield from ((-score, which, segment) for segment, score in turns.items())


def _measure_passage(segments: Sequence[Segment]) -> int:
    """Return how many characters a passage of this transcript has."""
    chars = sum(len(segment.text) for segment in segments)
    return min(chars // PASSAGE_SHARE, MAX_PASSAGE_CHARS)


def _grow_passage(segments: Sequence[Segment], turn: int, *, chars: int) -> Iterator[int]:
    """Yield a turn and what stands around it, the nearest first, as far as it fits; never with a gap."""
    yield turn
    chars -= len(segments[turn].text)
    first = last = turn
    is_growing = True
    while is_growing:
        is_growing = False
        for step in (1, -1):
            neighbour = last + 1 if step > 0 else first - 1
            if 0 <= neighbour < len(segments) and len(segments[neighbour].text) <= chars:
                chars -= len(segments[neighbour].text)
                first, last = min(first, neighbour), max(last, neighbour)
                is_growing = True
                yield neighbour


def _merge_adjacent(segments: Sequence[Segment], turns: Iterable[int]) -> tuple[Passage, ...]:
    stretches: list[range] = []
    for turn in sorted(turns):
        if stretches and stretches[-1].stop == turn:
            stretches[-1] = range(stretches[-1].start, turn + 1)
        else:
            stretches.append(range(turn, turn + 1))
    return tuple(build_passage(each, segments[each.start : each.stop]) for each in stretches)


def _widen(turn: int, count: int) -> tuple[int, int]:
    return max(turn - NEIGHBOUR_TURNS, 0), min(turn + NEIGHBOUR_TURNS, count - 1)
