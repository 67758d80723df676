"""Texts and questions as sparse vectors, whose plain dot product ranks as BM25 does."""

from collections import Counter
from collections.abc import Mapping

from shared.domain.vectors import SparseVector
from shared.retrieval.frequencies import weight
from shared.retrieval.terms import term_id, terms

MAX_TERMS = 1_000
SATURATION = 1.2
LENGTH_SHARE = 0.75
USUAL_TERMS = 200
"""BM25's k1 and b; the usual length is fixed, so that a row never depends on other rows."""

GRAIN = 256
"""Weights are multiples of 1/256: float32 holds them exactly, so every index adds up the same."""


def of_text(text: str) -> SparseVector:
    """Weigh what a text says: a repeated word counts less each time, in long texts less still."""
    counts = Counter(terms(text))
    length = 1 - LENGTH_SHARE + LENGTH_SHARE * counts.total() / USUAL_TERMS
    return _vector({term: _saturated(count, length) for term, count in counts.items()})


def of_query(text: str) -> SparseVector:
    """Weigh what a question asks for: by how rare its words are, once each.

    Words of no weight count only where a question has no others.
    """
    asked = dict.fromkeys(terms(text))
    weights = {term: weight(term) for term in asked if weight(term) > 0}
    return _vector(weights or dict.fromkeys(asked, 1.0))


def _saturated(count: int, length: float) -> float:
    return count * (SATURATION + 1) / (count + SATURATION * length)


def _vector(weights: Mapping[str, float]) -> SparseVector:
    """Keep what tells most, where there is too much; the last of two equal hashes wins."""
    told = sorted(weights, key=lambda term: -weights[term] * weight(term))[:MAX_TERMS]
    by_id = {term_id(term): max(round(weights[term] * GRAIN), 1) / GRAIN for term in told}
    indices = tuple(sorted(by_id))
    return SparseVector(indices, tuple(by_id[index] for index in indices))
