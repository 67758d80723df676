"""Fusion of two rankings into one, by reciprocal ranks or by scores.

Also called: rank fusion, reciprocal rank fusion, RRF.
"""

from collections.abc import Sequence

from shared.domain.store.vectors import Hit

RRF_K = 60
DENSE_WEIGHT = 0.3
"""Weight of vectors beside words: an embedder finds what shares no word, and much else."""


def fuse_ranks(*rankings: Sequence[Hit]) -> list[Hit]:
    """Score each hit by its ranks, Σ 1 / (60 + rank); equal ones keep their order."""
    hits = {hit.id: hit for ranking in rankings for hit in ranking}
    totals = dict.fromkeys(hits, 0.0)
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            totals[hit.id] += 1 / (RRF_K + rank)
    return _sort_by_score(hits, totals)


def fuse_scores(by_words: Sequence[Hit], by_vector: Sequence[Hit]) -> list[Hit]:
    """Add each hit's share of the best word score to its share of the vector scores' range.

    The latter counts by DENSE_WEIGHT. Scores tell more than ranks: the lead of the best hit by words shows how likely it is right.
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
