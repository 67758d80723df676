"""Packing of search hits into passages for people and models."""

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversations.conversation import Segment
from shared.retrieval.packing import ScoredTranscript, build_excerpts, estimate_turn_tokens, pack

TALK = [Segment(text=f"t{n}", speaker="Ann", is_user=n % 2 == 0) for n in range(30)]


def build_ranges(*matching_turns: int, limit: int = 9) -> list[tuple[int, int]]:
    turns = {turn: -float(place) for place, turn in enumerate(matching_turns)}
    return [(p.first_segment, p.last_segment) for p in build_excerpts(TALK, turns, limit=limit)]


def test_an_excerpt_contains_the_neighbouring_turns():
    [passage] = build_excerpts(TALK, {4: 1.0}, limit=1)

    assert (passage.first_segment, passage.last_segment) == (3, 5)
    assert passage.text == "Ann: t3\nUser: t4\nAnn: t5"


def test_excerpts_end_where_the_conversation_does():
    assert build_ranges(0, 29) == [(0, 1), (28, 29)]


def test_excerpts_come_best_first_up_to_the_limit():
    assert build_ranges(20, 2, 10, limit=2) == [(19, 21), (1, 3)]


def test_adjacent_excerpts_are_merged_at_the_better_rank():
    assert build_ranges(10, 2, 13) == [(9, 14), (1, 3)]
    assert build_ranges(2, 10, 6, 4) == [(1, 7), (9, 11)]


def build_segments(*texts: str) -> list[Segment]:
    return [Segment(text=text, speaker="Ann") for text in texts]


def pack_texts(*transcripts: ScoredTranscript, tokens: int) -> list[list[str]]:
    return [[passage.text for passage in passages] for passages in pack(transcripts, tokens=tokens)]


def test_the_best_turns_of_all_conversations_are_packed_together():
    first, second = build_segments("a", "b"), build_segments("c", "d")
    turn_tokens = estimate_turn_tokens(first[0])

    assert pack_texts((first, {0: 1.0, 1: 3.0}), (second, {1: 2.0}), tokens=2 * turn_tokens) == [
        ["Ann: b"],
        ["Ann: d"],
    ]


def test_consecutive_turns_become_one_passage_in_reading_order():
    assert pack_texts((build_segments(*"abcd"), {3: 9.0, 1: 1.0, 0: 2.0}), tokens=99) == [
        ["Ann: a\nAnn: b", "Ann: d"]
    ]


def test_a_turn_over_the_remaining_budget_is_skipped_for_shorter_ones():
    talk = build_segments("first", "long " * 99, "last")

    assert pack_texts((talk, {0: 3.0, 1: 2.0, 2: 1.0}), tokens=20) == [["Ann: first", "Ann: last"]]


def test_of_equal_turns_the_earlier_one_is_packed():
    first, second = build_segments("a", "b"), build_segments("c")

    assert pack_texts((first, {1: 1.0, 0: 1.0}), (second, {0: 1.0}), tokens=6) == [["Ann: a"], []]


segment_lists = st.lists(st.text("ab ", max_size=60), min_size=1, max_size=8).map(
    lambda t: build_segments(*t)
)
scored_transcripts = segment_lists.flatmap(
    lambda talk: st.tuples(
        st.just(talk),
        st.dictionaries(st.integers(0, len(talk) - 1), st.floats(0, 9, allow_nan=False)),
    )
)


@given(st.lists(scored_transcripts, max_size=4), st.integers(0, 200))
def test_packed_turns_match_are_unique_and_fit_the_budget(
    transcripts: list[ScoredTranscript], tokens: int
):
    packed_turns = [
        [n for p in passages for n in range(p.first_segment, p.last_segment + 1)]
        for passages in pack(transcripts, tokens=tokens)
    ]

    used_tokens = sum(
        estimate_turn_tokens(one[0][n])
        for one, turns in zip(transcripts, packed_turns, strict=True)
        for n in turns
    )
    skipped_costs = [
        estimate_turn_tokens(one[0][n])
        for one, turns in zip(transcripts, packed_turns, strict=True)
        for n in one[1]
        if n not in turns
    ]
    assert all(len(turns) == len(set(turns)) for turns in packed_turns)
    assert all(
        set(turns) <= set(one[1]) for one, turns in zip(transcripts, packed_turns, strict=True)
    )
    assert used_tokens <= tokens
    assert all(used_tokens + cost > tokens for cost in skipped_costs)


@given(st.lists(st.integers(0, 29), unique=True))
def test_excerpts_show_each_matching_turn_exactly_once(matching_turns: list[int]):
    excerpt_turns = [
        n for first, last in build_ranges(*matching_turns, limit=99) for n in range(first, last + 1)
    ]

    assert len(excerpt_turns) == len(set(excerpt_turns))
    assert set(matching_turns) <= set(excerpt_turns)
