"""What a person or a model reads of what was found."""

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversation import Segment
from shared.retrieval.packing import Found, excerpts, pack, tokens_of

TALK = [Segment(text=f"t{n}", speaker="Ann", is_user=n % 2 == 0) for n in range(30)]


def ranges(*found: int, limit: int = 9) -> list[tuple[int, int]]:
    turns = {turn: -float(place) for place, turn in enumerate(found)}
    return [(p.first_segment, p.last_segment) for p in excerpts(TALK, turns, limit=limit)]


def test_an_excerpt_is_what_was_said_with_its_neighbours():
    [passage] = excerpts(TALK, {4: 1.0}, limit=1)

    assert (passage.first_segment, passage.last_segment) == (3, 5)
    assert passage.text == "Ann: t3\nUser: t4\nAnn: t5"


def test_excerpts_end_where_the_conversation_does():
    assert ranges(0, 29) == [(0, 1), (28, 29)]


def test_the_best_stand_first_and_the_rest_is_left_out():
    assert ranges(20, 2, 10, limit=2) == [(19, 21), (1, 3)]


def test_excerpts_that_meet_become_one_where_the_better_one_stood():
    assert ranges(10, 2, 13) == [(9, 14), (1, 3)]
    assert ranges(2, 10, 6, 4) == [(1, 7), (9, 11)]


def said(*texts: str) -> list[Segment]:
    return [Segment(text=text, speaker="Ann") for text in texts]


def packed(*found: Found, tokens: int) -> list[list[str]]:
    return [[passage.text for passage in one] for one in pack(found, tokens=tokens)]


def test_the_best_turns_of_all_conversations_are_packed_together():
    one, other = said("a", "b"), said("c", "d")
    each = tokens_of(one[0])

    assert packed((one, {0: 1.0, 1: 3.0}), (other, {1: 2.0}), tokens=2 * each) == [
        ["Ann: b"],
        ["Ann: d"],
    ]


def test_what_was_said_in_a_row_is_one_passage_in_reading_order():
    assert packed((said(*"abcd"), {3: 9.0, 1: 1.0, 0: 2.0}), tokens=99) == [
        ["Ann: a\nAnn: b", "Ann: d"]
    ]


def test_a_turn_too_long_for_what_is_left_lets_shorter_ones_pass():
    talk = said("first", "long " * 99, "last")

    assert packed((talk, {0: 3.0, 1: 2.0, 2: 1.0}), tokens=20) == [["Ann: first", "Ann: last"]]


def test_of_equal_turns_the_earlier_one_is_packed():
    one, other = said("a", "b"), said("c")

    assert packed((one, {1: 1.0, 0: 1.0}), (other, {0: 1.0}), tokens=6) == [["Ann: a"], []]


segments = st.lists(st.text("ab ", max_size=60), min_size=1, max_size=8).map(lambda t: said(*t))
found = segments.flatmap(
    lambda talk: st.tuples(
        st.just(talk),
        st.dictionaries(st.integers(0, len(talk) - 1), st.floats(0, 9, allow_nan=False)),
    )
)


@given(st.lists(found, max_size=4), st.integers(0, 200))
def test_each_packed_turn_was_found_stands_once_and_all_fit(some: list[Found], tokens: int):
    shown = [
        [n for p in passages for n in range(p.first_segment, p.last_segment + 1)]
        for passages in pack(some, tokens=tokens)
    ]

    spent = sum(tokens_of(one[0][n]) for one, turns in zip(some, shown, strict=True) for n in turns)
    left_out = [
        tokens_of(one[0][n])
        for one, turns in zip(some, shown, strict=True)
        for n in one[1]
        if n not in turns
    ]
    assert all(len(turns) == len(set(turns)) for turns in shown)
    assert all(set(turns) <= set(one[1]) for one, turns in zip(some, shown, strict=True))
    assert spent <= tokens
    assert all(spent + cost > tokens for cost in left_out)


@given(st.lists(st.integers(0, 29), unique=True))
def test_no_turn_is_shown_twice_and_each_found_one_is_shown(some: list[int]):
    shown = [n for first, last in ranges(*some, limit=99) for n in range(first, last + 1)]

    assert len(shown) == len(set(shown))
    assert set(some) <= set(shown)
