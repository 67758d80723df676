"""How rankings are fused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.retrieval.fusion import fuse


def test_c66_scores_are_the_sum_of_reciprocal_ranks_with_k_60():
    fused = dict(fuse(["a", "b", "c"], ["c", "a"], ["d"]))

    assert fused == {
        "a": pytest.approx(1 / 61 + 1 / 62),
        "c": pytest.approx(1 / 63 + 1 / 61),
        "b": pytest.approx(1 / 62),
        "d": pytest.approx(1 / 61),
    }


def test_c66_best_comes_first_and_ties_keep_the_order_of_naming():
    assert [item for item, _ in fuse(["x", "y"], ["y", "x"], ["z"])] == ["x", "y", "z"]
    assert [item for item, _ in fuse(["y", "x"], ["x", "y"], ["z"])] == ["y", "x", "z"]


def test_an_item_named_twice_in_one_ranking_counts_once():
    assert fuse(["a", "a", "b"]) == [("a", 1 / 61), ("b", 1 / 62)]


def test_no_rankings_fuse_to_nothing():
    assert fuse() == fuse([], []) == []


@given(st.permutations("abcdef"))
def test_one_ranking_keeps_its_order(ranking: list[str]):
    assert [item for item, _ in fuse(ranking)] == ranking
