"""What a person or a model reads of what was found."""

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversation import Segment
from shared.retrieval.packing import passages

TALK = [Segment(text=f"t{n}", speaker="Ann", is_user=n % 2 == 0) for n in range(30)]


def ranges(found: list[tuple[int, int]], limit: int = 9) -> list[tuple[int, int]]:
    return [(p.first_segment, p.last_segment) for p in passages(TALK, found, limit=limit)]


def test_a_passage_is_what_was_said_with_its_neighbours():
    [passage] = passages(TALK, [(4, 5)], limit=1)

    assert (passage.first_segment, passage.last_segment) == (3, 6)
    assert passage.text == "Ann: t3\nUser: t4\nAnn: t5\nUser: t6"


def test_passages_end_where_the_conversation_does():
    assert ranges([(0, 1), (28, 29)]) == [(0, 2), (27, 29)]


def test_the_best_stand_first_and_the_rest_is_left_out():
    assert ranges([(20, 21), (2, 3), (10, 11)], limit=2) == [(19, 22), (1, 4)]


def test_passages_that_meet_become_one_where_the_better_one_stood():
    assert ranges([(10, 11), (2, 3), (12, 13)]) == [(9, 14), (1, 4)]
    assert ranges([(2, 3), (10, 11), (6, 7)]) == [(1, 12)]


found = st.lists(st.integers(0, 29).flatmap(lambda a: st.tuples(st.just(a), st.integers(a, 29))))


@given(found)
def test_no_turn_is_shown_twice_and_each_found_one_is_shown(found: list[tuple[int, int]]):
    shown = [n for first, last in ranges(found, limit=99) for n in range(first, last + 1)]

    assert len(shown) == len(set(shown))
    assert {n for first, last in found for n in range(first, last + 1)} <= set(shown)
