"""Exact search in memory: what is summed and compared, in arrays; loaded with the first search."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.domain.vectors import SparseVector

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Terms = NDArray[np.uint32]
Positions = NDArray[np.int32]
Mask = NDArray[np.bool_]

SAMPLED = 16
"""One in so many scores is looked at first."""
COSINE_DIGITS = 6
"""What 32 bits can tell: the same vector gets the same cosine, in whichever matrix it stands."""


@dataclass(frozen=True, slots=True)
class Postings:
    """Rows by term: entries `starts[n]:starts[n + 1]` are the rows that hold `terms[n]`, in order."""

    terms: Terms
    starts: NDArray[np.int64]
    rows: Positions
    weights: Vectors

    @classmethod
    def of(cls, terms: Terms, rows: Positions, weights: Vectors) -> "Postings":
        """Sort entries in any order; each row holds a term once."""
        order = _order(terms)
        spelled = terms[order]
        starts = np.flatnonzero(np.append(True, spelled[1:] != spelled[:-1])[: len(spelled)])
        return cls(spelled[starts], np.append(starts, len(terms)), rows[order], weights[order])

    def joined(self, later: "Postings") -> "Postings":
        both = [np.repeat(one.terms, np.diff(one.starts)) for one in (self, later)]
        return Postings.of(
            np.concatenate(both),
            np.concatenate([self.rows, later.rows]),
            np.concatenate([self.weights, later.weights]),
        )

    def add_scores(self, query: SparseVector, scores: Floats) -> None:
        """Add each row's dot product to its place in `scores`."""
        held = [self._entries(term) for term in query.indices]
        if not held:
            return
        rows = np.concatenate([self.rows[entries] for entries in held])
        each = zip(held, query.values, strict=True)
        products = [self.weights[entries] * np.float64(weight) for entries, weight in each]
        scores += np.bincount(rows, np.concatenate(products), len(scores))

    def weights_of(self, query: SparseVector, rows: Positions) -> Vectors:
        """Return what each term of the query weighs in each of `rows`: (rows, terms) float32."""
        weights = np.zeros((len(rows), len(query.indices)), np.float32)
        for n, term in enumerate(query.indices):
            entries = self._entries(term)
            held = self.rows[entries]
            if len(held):
                at = np.minimum(np.searchsorted(held, rows), len(held) - 1)
                weights[:, n] = np.where(held[at] == rows, self.weights[entries][at], 0)
        return weights

    def _entries(self, term: int) -> slice:
        at = int(np.searchsorted(self.terms, np.uint32(term)))
        known = at < len(self.terms) and self.terms[at] == term
        return slice(self.starts[at], self.starts[at + 1]) if known else slice(0)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Vectors of one length as (n, length), each of unit length, and the rows they belong to."""

    rows: Positions
    vectors: Vectors

    @classmethod
    def of(cls, rows: Sequence[int], vectors: Vectors) -> "Matrix":
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return cls(np.array(rows, np.int32), vectors / lengths)

    def joined(self, later: "Matrix") -> "Matrix":
        return Matrix(
            np.concatenate([self.rows, later.rows]), np.concatenate([self.vectors, later.vectors])
        )

    def set_scores(self, vector: Sequence[float], scores: Floats) -> None:
        """Set each row's cosine at its place in `scores`."""
        unit = np.array(vector, np.float64)
        cosines = self.vectors @ (unit / np.linalg.norm(unit)).astype(np.float32)
        scores[self.rows] = np.round(cosines.astype(np.float64), COSINE_DIGITS)


def best(scores: Floats, count: int) -> NDArray[np.int64]:
    """Return the places of the highest scores, highest first; of equal ones the first come first."""
    if count >= len(scores):
        return np.argsort(-scores, kind="stable")
    near = _near(scores, count)
    among = scores[near]
    edge = np.partition(among, -count)[-count]
    above = np.flatnonzero(among > edge)
    level = np.flatnonzero(among == edge)[: count - len(above)]
    chosen: NDArray[np.int64] = near[np.sort(np.concatenate([above, level]))]
    return chosen[np.argsort(-scores[chosen], kind="stable")]


def _near(scores: Floats, count: int) -> NDArray[np.int64]:
    """Return the places of the highest scores, and some more, in order.

    So many are as good as the last of the best in a sample that no other can be among the best.
    """
    sample = scores[::SAMPLED]
    if count >= len(sample):
        return np.arange(len(scores))
    near: NDArray[np.int64] = np.flatnonzero(scores >= np.partition(sample, -count)[-count])
    return near


def _order(terms: Terms) -> NDArray[np.int64]:
    """Sort by term, then by entry: one sort of plain numbers is several times faster than argsort."""
    keys = terms.astype(np.uint64) << np.uint64(32) | np.arange(len(terms), dtype=np.uint64)
    keys.sort()
    return (keys & np.uint64(0xFFFF_FFFF)).astype(np.int64)
