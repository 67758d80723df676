"""Packing of search hits into passages for people and models."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversations.conversation import Segment
from shared.retrieval.packing import (
    MAX_PASSAGE_CHARS,
    PASSAGE_SHARE,
    ScoredTranscript,
    build_passage,
    choose_excerpts,
    estimate_turn_tokens,
    pack,
)

TALK = [Segment(text=f"t{n}", speaker="Ann", is_user=n % 2 == 0) for n in range(30)]


def build_ranges(*matching_turns: int, limit: int = 9) -> list[tuple[int, int]]:
    turns = {turn: -float(place) for place, turn in enumerate(matching_turns)}
    stretches = choose_excerpts(turns, count=len(TALK), limit=limit)
    return [(stretch[0], stretch[-1]) for stretch in stretches]


def test_an_excerpt_contains_the_neighbouring_turns():
    [stretch] = choose_excerpts({4: 1.0}, count=len(TALK), limit=1)
    passage = build_passage(stretch, TALK[3:6])

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


def build_meeting(turns: int) -> list[Segment]:
    return build_segments(*(f"{n:04} words of it" for n in range(turns)))


def test_in_a_long_talk_a_turn_is_shown_with_what_was_said_around_it():
    meeting = build_meeting(300)

    [[passage]] = pack([(meeting, {150: 1.0})], tokens=1_000)

    assert passage.first_segment < 150 < passage.last_segment
    assert passage.last_segment - passage.first_segment + 1 == 300 // PASSAGE_SHARE


def test_in_a_short_talk_a_turn_is_shown_alone():
    assert pack_texts((build_meeting(PASSAGE_SHARE), {3: 1.0}), tokens=1_000) == [
        ["Ann: 0003 words of it"]
    ]


def test_a_passage_of_the_longest_talk_has_an_end():
    [[passage]] = pack([(build_meeting(9_000), {150: 1.0})], tokens=9_000)

    assert passage.last_segment - passage.first_segment + 1 == MAX_PASSAGE_CHARS // len(
        "0000 words of it"
    )


def test_a_passage_stops_where_the_budget_does():
    meeting = build_meeting(300)

    [[passage]] = pack([(meeting, {150: 1.0})], tokens=3 * estimate_turn_tokens(meeting[0]))

    assert (passage.first_segment, passage.last_segment) == (149, 151)


def test_passages_that_meet_become_one():
    [[passage]] = pack([(build_meeting(300), {150: 2.0, 153: 1.0})], tokens=1_000)

    assert (passage.first_segment, passage.last_segment) == (148, 155)


@given(st.lists(scored_transcripts, max_size=4), st.integers(0, 200))
def test_packed_turns_are_unique_and_fit_the_budget(
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
    assert used_tokens <= tokens
    assert all(used_tokens + cost > tokens for cost in skipped_costs)


meeting_turns = st.dictionaries(st.integers(0, 599), st.floats(0, 9, allow_nan=False), max_size=9)


@given(meeting_turns, st.integers(0, 600))
def test_passages_are_in_reading_order_without_gaps_and_hold_a_found_turn_each(
    turns: dict[int, float], tokens: int
):
    meeting = build_meeting(600)

    [passages] = pack([(meeting, turns)], tokens=tokens)

    ranges = [(passage.first_segment, passage.last_segment) for passage in passages]
    assert all(last + 1 < first for (_, last), (first, _) in pairwise(ranges))
    for passage in passages:
        shown = range(passage.first_segment, passage.last_segment + 1)
        assert not set(turns).isdisjoint(shown)
        assert passage.text.splitlines() == [f"Ann: {meeting[n].text}" for n in shown]


@given(st.lists(st.integers(0, 29), unique=True))
def test_excerpts_show_each_matching_turn_exactly_once(matching_turns: list[int]):
    excerpt_turns = [
        n for first, last in build_ranges(*matching_turns, limit=99) for n in range(first, last + 1)
    ]

    assert len(excerpt_turns) == len(set(excerpt_turns))
    assert set(matching_turns) <= set(excerpt_turns)


@given(
    texts=st.lists(st.text(), min_size=1, max_size=4),
    speaker=st.text(max_size=20) | st.sampled_from(["User", " user", "Ann\nUser"]),
)
def test_no_turn_looks_like_two_or_like_the_owners_e3(texts: list[str], speaker: str):
    segments = [Segment(text=f"{text}\nUser: I agree", speaker=speaker) for text in texts]

    passage = build_passage(range(len(texts)), segments)

    lines = passage.text.splitlines()
    assert len(lines) == len(texts)
    assert not any(line.startswith("User:") for line in lines)
