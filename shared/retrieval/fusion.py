"""Fusion of two rankings into one, by reciprocal ranks or by normalised scores.

Also called: rank fusion, reciprocal rank fusion, RRF, z-score normalisation, hybrid search.
"""

from collections.abc import Iterable, Sequence
from math import sqrt

from shared.domain.store.vectors import Hit

RRF_K = 60
DENSE_WEIGHT = 0.4
"""Weight of vectors; words have the rest. An embedder finds what shares no word, and much else."""


def fuse_ranks(*rankings: Sequence[Hit]) -> list[Hit]:
    """Score each hit by its ranks, Σ 1 / (60 + rank); equal ones keep their order."""
    hits = {hit.id: hit for ranking in rankings for hit in ranking}
    totals = dict.fromkeys(hits, 0.0)
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            totals[hit.id] += 1 / (RRF_K + rank)
    return _sort_by_score(hits, totals)


def fuse_scores(by_words: Sequence[Hit], by_vector: Sequence[Hit], *, limit: int) -> list[Hit]:
    """Add both scores, as standard deviations from the mean of all hits; best first, equal ones keep their order.

    A hit that one of them lacks has its lowest score; where words found fewer than `limit`, the others
    have no word of the question: 0. Scores tell more than ranks: the lead of the best hit by words shows
    how likely it is right.
    """
    if not by_vector:
        return list(by_words)
    hits = {hit.id: hit for hit in [*by_words, *by_vector]}
    last_by_words = by_words[-1].score if len(by_words) >= limit else 0.0
    words = _standardize(by_words, hits, missing=last_by_words)
    vectors = _standardize(by_vector, hits, missing=min(hit.score for hit in by_vector))
    totals = {
        name: (1 - DENSE_WEIGHT) * words[name] + DENSE_WEIGHT * vectors[name] for name in hits
    }
    return _sort_by_score(hits, totals)


def _standardize(ranking: Sequence[Hit], names: Iterable[str], missing: float) -> dict[str, float]:
    """Return the z-score of each named hit among them."""
    scores = dict.fromkeys(names, missing) | {hit.id: hit.score for hit in reversed(ranking)}
    mean = sum(scores.values()) / len(scores)
    deviation = sqrt(sum((score - mean) ** 2 for score in scores.values()) / len(scores)) or 1.0
    return {name: (score - mean) / deviation for name, score in scores.items()}


def _sort_by_score(hits: dict[str, Hit], totals: dict[str, float]) -> list[Hit]:
    fused = [hit.with_score(totals[name]) for name, hit in hits.items()]
    return sorted(fused, key=lambda hit: -hit.score)
