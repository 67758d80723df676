"""Support of a conversation by its best places (E1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.store.vectors import Hit
from shared.retrieval.support import PLACE_TURNS, PLACES, SUPPORT_WEIGHT, add_support


def rows(scores: dict[int, float]) -> list[Hit]:
    """Build the rows of a conversation, best first: scores by segment."""
    hits = [Hit(id=f"#{n}", score=score, metadata={"segment": n}) for n, score in scores.items()]
    return sorted(hits, key=lambda hit: -hit.score)


def first_scores(found: dict[str, list[Hit]]) -> dict[str, float]:
    return {name: hits[0].score for name, hits in found.items()}


def test_a_conversation_that_fits_in_places_far_apart_comes_before_one_that_fits_in_one():
    far, near = {0: 2.0, 100: 2.0, 200: 2.0}, {0: 2.1, 1: 2.1, 2: 2.1}

    found = add_support({"near": rows(near), "far": rows(far), "none": rows({0: 0.0})})

    assert list(found) == ["far", "near", "none"]


def test_support_is_a_share_of_the_mean_of_the_best_places():
    found = add_support({"one": rows({0: 3.0, PLACE_TURNS: 2.0}), "other": rows({5: 1.0, 99: 0.5})})

    assert first_scores(found) == pytest.approx(
        {
            "one": 3 + SUPPORT_WEIGHT * (3 + 0.5 + 0.5) / PLACES,
            "other": 1 + SUPPORT_WEIGHT * (1 + 0.5 + 0.5) / PLACES,
        }
    )


def test_a_summary_has_no_place():
    summary = Hit(id="c", score=5.0, metadata={"kind": "summary"})

    found = add_support({"c": [summary], "d": rows({0: 1.0})})

    assert first_scores(found) == pytest.approx({"c": 5 + SUPPORT_WEIGHT, "d": 1 + SUPPORT_WEIGHT})


scored = st.dictionaries(st.integers(0, 99), st.integers(-9, 9), min_size=1)


@given(st.dictionaries(st.sampled_from("abc"), scored))
def test_no_row_is_lost_and_rows_of_a_conversation_keep_their_order(
    conversations: dict[str, dict[int, float]],
):
    before = {name: rows(scores) for name, scores in conversations.items()}

    found = add_support(before)

    assert {name: [hit.id for hit in hits] for name, hits in found.items()} == {
        name: [hit.id for hit in hits] for name, hits in before.items()
    }
    firsts = [*first_scores(found).values()]
    assert firsts == sorted(firsts, reverse=True)
