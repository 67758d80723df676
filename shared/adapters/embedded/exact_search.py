"""Exact search in memory over numpy arrays; imported with the first search.

Also called: nearest neighbours, cosine similarity, kNN.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.domain.store.vectors import SparseVector

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Terms = NDArray[np.uint32]
Positions = NDArray[np.int32]
Mask = NDArray[np.bool_]

SAMPLE_STEP = 16
"""The sample for the threshold: one score in so many."""
COSINE_DIGITS = 6
"""Precision of a cosine in 32 bits: equal vectors get equal cosines in every matrix."""


@dataclass(frozen=True, slots=True)
class Postings:
    """Rows by term: entries `starts[n]:starts[n + 1]` are the rows with `terms[n]`, in order."""

    terms: Terms
    starts: NDArray[np.int64]
    rows: Positions
    weights: Vectors

    @classmethod
    def build(cls, terms: Terms, rows: Positions, weights: Vectors) -> "Postings":
        """Sort entries in any order; each row holds a term once."""
        order = _sort_entries(terms)
        sorted_terms = terms[order]
        starts = np.flatnonzero(
            np.append(True, sorted_terms[1:] != sorted_terms[:-1])[: len(sorted_terms)]
        )
        return cls(sorted_terms[starts], np.append(starts, len(terms)), rows[order], weights[order])

    def merge(self, later: "Postings") -> "Postings":
        entry_terms = [
            np.repeat(postings.terms, np.diff(postings.starts)) for postings in (self, later)
        ]
        return Postings.build(
            np.concatenate(entry_terms),
            np.concatenate([self.rows, later.rows]),
            np.concatenate([self.weights, later.weights]),
        )

    def add_scores(self, query: SparseVector, scores: Floats) -> None:
        """Add each row's dot product to its place in `scores`."""
        slices = [self._find_entries(term) for term in query.indices]
        if not slices:
            return
        rows = np.concatenate([self.rows[entries] for entries in slices])
        weighted_slices = zip(slices, query.values, strict=True)
        products = [
            self.weights[entries] * np.float64(weight) for entries, weight in weighted_slices
        ]
        scores += np.bincount(rows, np.concatenate(products), len(scores))

    def read_weights(self, query: SparseVector, rows: Positions) -> Vectors:
        """Return the weight of each query term in each of `rows`: (rows, terms) float32."""
        weights = np.zeros((len(rows), len(query.indices)), np.float32)
        for n, term in enumerate(query.indices):
            entries = self._find_entries(term)
            entry_rows = self.rows[entries]
            if len(entry_rows):
                at = np.minimum(np.searchsorted(entry_rows, rows), len(entry_rows) - 1)
                weights[:, n] = np.where(entry_rows[at] == rows, self.weights[entries][at], 0)
        return weights

    def _find_entries(self, term: int) -> slice:
        at = int(np.searchsorted(self.terms, np.uint32(term)))
        is_known = at < len(self.terms) and self.terms[at] == term
        return slice(self.starts[at], self.starts[at + 1]) if is_known else slice(0)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Vectors of one length as (n, length), each of unit length, and the rows they belong to."""

    rows: Positions
    vectors: Vectors

    @classmethod
    def build(cls, rows: Sequence[int], vectors: Vectors) -> "Matrix":
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return cls(np.array(rows, np.int32), vectors / lengths)

    def merge(self, later: "Matrix") -> "Matrix":
        return Matrix(
            np.concatenate([self.rows, later.rows]), np.concatenate([self.vectors, later.vectors])
        )

    def set_scores(self, vector: Sequence[float], scores: Floats) -> None:
        """Set each row's cosine at its place in `scores`."""
        unit = np.array(vector, np.float64)
        cosines = self.vectors @ (unit / np.linalg.norm(unit)).astype(np.float32)
        scores[self.rows] = np.round(cosines.astype(np.float64), COSINE_DIGITS)


def select_best(scores: Floats, count: int) -> NDArray[np.int64]:
    """Return the places of the highest scores, highest first; of equal ones the first come first."""
    if count >= len(scores):
        return np.argsort(-scores, kind="stable")
    candidates = _select_candidates(scores, count)
    candidate_scores = scores[candidates]
    lowest_score = np.partition(candidate_scores, -count)[-count]
    higher_positions = np.flatnonzero(candidate_scores > lowest_score)
    equal_positions = np.flatnonzero(candidate_scores == lowest_score)[
        : count - len(higher_positions)
    ]
    best_positions: NDArray[np.int64] = candidates[
        np.sort(np.concatenate([higher_positions, equal_positions]))
    ]
    return best_positions[np.argsort(-scores[best_positions], kind="stable")]


def _select_candidates(scores: Floats, count: int) -> NDArray[np.int64]:
    """Return the places of the highest scores and some more, in order.

    They are as good as the last of the best in a sample, so no other can be among the best.
    """
    sample = scores[::SAMPLE_STEP]
    if count >= len(sample):
        return np.arange(len(scores))
    candidates: NDArray[np.int64] = np.flatnonzero(scores >= np.partition(sample, -count)[-count])
    return candidates


def _sort_entries(terms: Terms) -> NDArray[np.int64]:
    """Sort by term, then by entry: one sort of plain numbers is several times faster than argsort."""
    keys = terms.astype(np.uint64) << np.uint64(32) | np.arange(len(terms), dtype=np.uint64)
    keys.sort()
    return (keys & np.uint64(0xFFFF_FFFF)).astype(np.int64)
