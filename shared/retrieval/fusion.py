"""Several rankings of the same things made into one."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TypeVar

K = 60
"""How little the first places differ; from Cormack, Clarke and Büttcher, 2009."""

Item = TypeVar("Item", bound=Hashable)


def fuse(*rankings: Sequence[Item]) -> list[tuple[Item, float]]:
    """Score each item by Σ 1 / (K + rank), ranks from 1, best first.

    Items of equal score keep the order in which the rankings name them.
    """
    scores: dict[Item, float] = defaultdict(float)
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] += 1 / (K + rank)
    return sorted(scores.items(), key=lambda scored: -scored[1])
