"""Exact search in memory over numpy arrays; imported with the first search.

Also called: nearest neighbours, cosine similarity, kNN.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.adapters.embedded.dense_blobs import HIGHEST, is_rounded
from shared.domain.store.vectors import SparseVector

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
RoundedVectors = NDArray[np.int8]
Terms = NDArray[np.uint32]
Positions = NDArray[np.int32]
Mask = NDArray[np.bool_]

SAMPLE_STEP = 16
"""The sample for the threshold: one score in so many."""
BLOCK_ROWS = 1_024
"""Rows whose numbers are widened to 32 bits at once: 1.5 MB, which stay in the processor's cache."""
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
        slices = self._find_entries(query)
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
        for n, entries in enumerate(self._find_entries(query)):
            entry_rows = self.rows[entries]
            if len(entry_rows):
                at = np.minimum(np.searchsorted(entry_rows, rows), len(entry_rows) - 1)
                weights[:, n] = np.where(entry_rows[at] == rows, self.weights[entries][at], 0)
        return weights

    def _find_entries(self, query: SparseVector) -> list[slice]:
        """Return where the entries of each term of the query stand: nowhere for one that no row has."""
        terms = np.array(query.indices, np.uint32)
        begins = self.starts[np.searchsorted(self.terms, terms)]
        ends = self.starts[np.searchsorted(self.terms, terms, side="right")]
        return list(map(slice, begins.tolist(), ends.tolist()))


@dataclass(frozen=True, slots=True)
class Matrix:
    """Vectors of one length as (n, length), their norms, and the rows they belong to."""

    rows: Positions
    vectors: Vectors | RoundedVectors
    norms: Vectors

    @classmethod
    def build(cls, rows: Positions, vectors: Vectors | RoundedVectors) -> "Matrix":
        squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float32)
        return cls(rows, vectors, np.sqrt(squares))

    def merge(self, later: "Matrix") -> "Matrix":
        return Matrix(
            np.concatenate([self.rows, later.rows]),
            np.concatenate([self.vectors, later.vectors]),
            np.concatenate([self.norms, later.norms]),
        )

    def set_scores(self, vector: Sequence[float], scores: Floats) -> None:
        """Set each row's cosine at its place in `scores`."""
        wanted = np.array(vector, np.float64)
        unit = (wanted / np.linalg.norm(wanted)).astype(np.float32)
        products = [
            self.vectors[start : start + BLOCK_ROWS].astype(np.float32, copy=False) @ unit
            for start in range(0, len(self.rows), BLOCK_ROWS)
        ]
        cosines = np.concatenate(products).astype(np.float64) / self.norms
        scores[self.rows] = np.round(cosines, COSINE_DIGITS)


def read_vectors(blobs: bytes | bytearray, count: int) -> Vectors | RoundedVectors:
    """Read `count` vectors of one length, as encode_dense() writes them, one behind the other."""
    if len(blobs) // count % 2:
        return np.frombuffer(blobs, np.int8).reshape(count, -1)[:, :-1].copy()
    vectors = np.frombuffer(blobs, np.float32).reshape(count, -1)
    return _round(vectors) if is_rounded(vectors.shape[1]) else vectors


def _round(vectors: Vectors) -> RoundedVectors:
    """Round those that were stored before vectors were rounded; one without a direction stays so."""
    highest = np.abs(vectors).max(axis=1, keepdims=True)
    factors = HIGHEST / np.where(highest > 0, highest, 1.0)
    rounded: RoundedVectors = np.rint(vectors * factors).astype(np.int8)
    return rounded


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
