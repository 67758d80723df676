"""The best of many scores are the same as sorting all of them gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.embedded.exact_search import SAMPLE_STEP, select_best


@given(
    count=st.integers(1, 30),
    size=st.integers(0, 60 * SAMPLE_STEP),
    levels=st.integers(1, 1_000),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_highest_scores_come_first_and_ties_keep_their_order(
    count: int, size: int, levels: int, seed: int
):
    scores = np.random.default_rng(seed).integers(0, levels, size).astype(np.float64)

    in_full = np.argsort(-scores, kind="stable")[:count]
    assert select_best(scores, count).tolist() == in_full.tolist()


@pytest.mark.parametrize("order", [1, -1])
def test_sorted_scores_are_selected_correctly(order: int):
    scores = np.arange(1_000.0)[::order]

    assert scores[select_best(scores, 3)].tolist() == [999, 998, 997]
