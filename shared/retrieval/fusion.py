"""Two rankings made one."""

from collections.abc import Sequence

from shared.domain.vectors import Hit

RRF_K = 60
DENSE_WEIGHT = 0.3
"""A plain embedder finds what no word shows, and much else: beside the words it counts for a third."""


def fuse_ranks(*rankings: Sequence[Hit]) -> list[Hit]:
    """Score each hit by its ranks, Σ 1 / (60 + rank); equal ones stay in the order they came."""
    hits = {hit.id: hit for ranking in rankings for hit in ranking}
    totals = dict.fromkeys(hits, 0.0)
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            totals[hit.id] += 1 / (RRF_K + rank)
    return _sort_by_score(hits, totals)


def fuse_scores(by_words: Sequence[Hit], by_vector: Sequence[Hit]) -> list[Hit]:
    """Add up how near each hit comes to the best one by words and, for its share, by meaning.

    Scores tell more than ranks here: how far words set the best apart is what makes it right.
    """
    if not by_vector:
        return list(by_words)
    best = max((hit.score for hit in by_words), default=0.0) or 1.0
    top, floor = by_vector[0].score, by_vector[-1].score
    hits = {hit.id: hit for hit in [*by_words, *by_vector]}
    totals = dict.fromkeys(hits, 0.0)
    for hit in by_words:
        totals[hit.id] += hit.score / best
    for hit in by_vector:
        totals[hit.id] += DENSE_WEIGHT * (hit.score - floor) / ((top - floor) or 1.0)
    return _sort_by_score(hits, totals)


def _sort_by_score(hits: dict[str, Hit], totals: dict[str, float]) -> list[Hit]:
    fused = [hit.with_score(totals[name]) for name, hit in hits.items()]
    return sorted(fused, key=lambda hit: -hit.score)
