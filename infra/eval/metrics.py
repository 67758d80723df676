"""Metrics of a ranking for a question, and confidence intervals of differences and shares."""

import random
from collections.abc import Mapping, Sequence
from math import sqrt

from infra.eval.locomo import Question, Talk, Turn

BUDGETS = (500, 1_000, 4_400)
RESAMPLES = 1_000
Z_95 = 1.959964
"""Standard deviations from the mean within which 95 % of a normal distribution lie."""
Row = dict[str, float]
Ranking = tuple[Sequence[Talk], Mapping[int, set[int]]]
"""A ranking: distinct talks, best first, and the turns shown within each token budget."""


def score_ranking(question: Question, ranking: Ranking, turns: Sequence[Turn]) -> Row:
    talks, packed = ranking
    relevant_talks = question.talks
    row: Row = {
        "any@1": bool(relevant_talks & set(talks[:1])),
        "any@10": bool(relevant_talks & set(talks[:10])),
        "all@5": relevant_talks <= set(talks[:5]),
        "all@10": relevant_talks <= set(talks[:10]),
        "mrr": max(
            (1 / (n + 1) for n, talk in enumerate(talks) if talk in relevant_talks), default=0
        ),
    }
    for budget in BUDGETS:
        packed_ids = {turns[n].id for n in packed[budget]}
        row[f"ev@{budget}"] = len(question.evidence & packed_ids) / len(question.evidence)
        row[f"evall@{budget}"] = question.evidence <= packed_ids
    return row


def compute_means(rows: Sequence[Row]) -> Row:
    """Return percentages with one decimal."""
    return {key: round(100 * sum(row[key] for row in rows) / len(rows), 1) for key in rows[0]}


def compute_interval(differences: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean of paired differences, in points."""
    draw = random.Random(0)  # noqa: S311 - a resample, no secret
    count = len(differences)
    means_drawn = sorted(
        100 * sum(draw.choices(differences, k=count)) / count for _ in range(RESAMPLES)
    )
    return means_drawn[int(0.025 * RESAMPLES)], means_drawn[int(0.975 * RESAMPLES) - 1]


def compute_share_interval(hits: int, total: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share, from 0 to 1; (0, 1) without observations."""
    if not total:
        return 0.0, 1.0
    share = hits / total
    scale = 1 + Z_95**2 / total
    middle = (share + Z_95**2 / (2 * total)) / scale
    half = Z_95 * sqrt(share * (1 - share) / total + Z_95**2 / (4 * total**2)) / scale
    return max(0.0, middle - half), min(1.0, middle + half)
