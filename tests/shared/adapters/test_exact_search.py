"""The best of many scores are the same as sorting all of them gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.exact_search import SAMPLED, best


@given(
    count=st.integers(1, 30),
    size=st.integers(0, 60 * SAMPLED),
    levels=st.integers(1, 1_000),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_best_come_first_and_of_equal_ones_the_first(
    count: int, size: int, levels: int, seed: int
):
    scores = np.random.default_rng(seed).integers(0, levels, size).astype(np.float64)

    in_full = np.argsort(-scores, kind="stable")[:count]
    assert best(scores, count).tolist() == in_full.tolist()


@pytest.mark.parametrize("order", [1, -1])
def test_scores_in_order_are_no_special_case(order: int):
    scores = np.arange(1_000.0)[::order]

    assert scores[best(scores, 3)].tolist() == [999, 998, 997]
