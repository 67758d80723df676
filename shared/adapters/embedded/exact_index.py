"""Exact index: the rows of one namespace, in memory."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice, repeat
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from pydantic_core import from_json

from shared.adapters.embedded.exact_search import (
    Floats,
    Mask,
    Matrix,
    Positions,
    Postings,
    read_vectors,
    select_best,
)
from shared.adapters.pinecone_rules import build_filter
from shared.domain.store.vectors import Filter, Hit, MetadataValue, SparseVector

WIDEN_FACTOR = 8
MAX_DECODED_ROWS = 20_000
"""Rows whose metadata is kept decoded, at some 1 KB each."""
_BOUND_OPERATORS = {
    "$gt": np.greater,
    "$gte": np.greater_equal,
    "$lt": np.less,
    "$lte": np.less_equal,
}


class StoredRow(NamedTuple):
    """A row as it is stored: numbers of 32 bits, JSON; `created_at` is NULL where it is no number."""

    id: str
    indices: bytes
    weights: bytes
    metadata: str
    kind: str | None
    conversation_id: str | None
    created_at: float | None


class StoredRows:
    """Rows in the order of their writes, and their dense values by the size of those.

    The values stand one behind the other: an object for each would leave the memory in pieces that nothing else fits.
    """

    def __init__(self) -> None:
        self.rows: list[StoredRow] = []
        self.dense: dict[int, tuple[list[int], bytearray]] = {}

    def add(self, row: StoredRow, dense: bytes | None) -> None:
        if dense:
            places, blobs = self.dense.setdefault(len(dense), ([], bytearray()))
            places.append(len(self.rows))
            blobs += dense
        self.rows.append(row)


class _Column:
    """A field of all rows, each of its values kept once: a condition on it is asked of these."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._numbers: dict[str | None, int] = {}
        self._values: list[Mapping[str, MetadataValue]] = []
        self._rows: Positions = np.zeros(0, np.int32)

    def extend(self, stored: Sequence[str | None]) -> None:
        """Add the values of further rows, as JSON; None where a row has no such field."""
        for text in stored:
            if text not in self._numbers:
                self._numbers[text] = len(self._values)
                self._values.append({} if text is None else {self._name: from_json(text)})
        self._rows = np.append(
            self._rows, np.array([self._numbers[text] for text in stored], np.int32)
        )

    def match(self, condition: Any) -> Mask:
        """Return the rows whose value meets a condition."""
        is_met = build_filter({self._name: condition})
        return np.fromiter(map(is_met, self._values), np.bool_, len(self._values))[self._rows]


class ExactIndex:
    """Rows by position, in the order of arrival; `version` is the last write taken in.

    A replaced or deleted row leaves a dead position. New rows get arrays of their own, which are
    merged once they have grown as large: adding a few rows is cheap. Hold `lock` around every use.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.version = 0
        self._ids: list[str] = []
        self._metadata: list[str] = []
        self._positions: dict[str, int] = {}
        self._alive: Mask = np.zeros(0, np.bool_)
        self._created_at: Floats = np.zeros(0)
        self._columns = {name: _Column(name) for name in ("kind", "conversation_id")}
        self._postings: list[Postings] = []
        self._matrices: dict[int, list[Matrix]] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def is_worn(self) -> bool:
        """Tell whether most positions are dead, so that reading anew is cheaper."""
        return len(self._ids) > 2 * len(self._positions)

    def update(self, stored: StoredRows, version: int) -> None:
        self.version = version
        if stored.rows:
            first = len(self._ids)
            self._add_rows(stored.rows)
            _push(self._postings, _build_postings(stored.rows, first))
            for places, blobs in stored.dense.values():
                vectors = read_vectors(blobs, len(places))
                matrix = Matrix.build(np.array(places, np.int32) + np.int32(first), vectors)
                _push(self._matrices.setdefault(vectors.shape[1], []), matrix)

    def retain_only(self, ids: set[str]) -> None:
        """Keep only these rows."""
        for row_id in self._positions.keys() - ids:
            self._alive[self._positions.pop(row_id)] = False

    def search_sparse(self, query: SparseVector, limit: int, where: Filter) -> list[Hit]:
        scores = np.zeros(len(self))
        for postings in self._postings:
            postings.add_scores(query, scores)
        found = self._select_positions(scores, scores > 0, limit, where)
        return self._build_hits(found, scores, self._read_weights(query, found))

    def search_dense(self, vector: Sequence[float], limit: int, where: Filter) -> list[Hit]:
        """Search the rows of the vector's length; others cannot be compared."""
        scores = np.full(len(self), np.nan)
        for matrix in self._matrices.get(len(vector), ()):
            matrix.set_scores(vector, scores)
        return self._build_hits(
            self._select_positions(scores, ~np.isnan(scores), limit, where), scores, repeat(())
        )

    def _add_rows(self, rows: Sequence[StoredRow]) -> None:
        for row in rows:
            if row.id in self._positions:
                self._alive[self._positions[row.id]] = False
            self._positions[row.id] = len(self._ids)
            self._ids.append(row.id)
            self._metadata.append(row.metadata)
        for name, column in self._columns.items():
            column.extend([getattr(row, name) for row in rows])
        times = np.array([row.created_at for row in rows], np.float64)
        self._alive = np.append(self._alive, np.ones(len(rows), np.bool_))
        self._created_at = np.append(self._created_at, times)

    def _select_positions(
        self, scores: Floats, candidates: Mask, limit: int, where: Filter
    ) -> list[int]:
        """Take the best few, and more where the filter leaves too few of them."""
        positions = np.flatnonzero(candidates & self._build_mask(where))
        other_conditions = {
            name: condition for name, condition in where.items() if name not in self._columns
        }
        width = limit
        while True:
            best: list[int] = positions[select_best(scores[positions], width)].tolist()
            places = list(islice(self._select_matching(best, other_conditions), limit))
            if len(places) >= limit or width >= len(positions):
                return places
            width *= WIDEN_FACTOR

    def _select_matching(self, places: Sequence[int], where: Filter) -> Iterable[int]:
        if not where:
            return places
        is_met = build_filter(where)
        return (at for at in places if is_met(_decode_metadata(self._metadata[at])))

    def _read_weights(
        self, query: SparseVector, positions: Sequence[int]
    ) -> Iterable[tuple[float, ...]]:
        """Return the weight of each query term in each hit."""
        rows = np.array(positions, np.int32)
        weights = np.zeros((len(rows), len(query.indices)), np.float32)
        for postings in self._postings:
            weights += postings.read_weights(query, rows)
        return map(tuple, weights.tolist())

    def _build_hits(
        self, positions: Sequence[int], scores: Floats, term_weights: Iterable[tuple[float, ...]]
    ) -> list[Hit]:
        return [
            Hit(
                id=self._ids[at],
                score=score,
                metadata=_decode_metadata(self._metadata[at]),
                term_weights=weights,
            )
            for at, score, weights in zip(
                positions, scores[positions].tolist(), term_weights, strict=False
            )
        ]

    def _build_mask(self, where: Filter) -> Mask:
        """Drop rows that are dead, or of another kind, conversation or time.

        It decides about kind and conversation; the filter decides about the rest, for the few that come first.
        """
        mask = self._alive
        for name, column in self._columns.items():
            if name in where:
                mask = mask & column.match(where[name])
        bounds = where.get("created_at")
        for operator, bound in bounds.items() if isinstance(bounds, Mapping) else ():
            if operator in _BOUND_OPERATORS and isinstance(bound, int | float):
                mask = mask & _BOUND_OPERATORS[operator](self._created_at, bound)
        return mask


@lru_cache(maxsize=MAX_DECODED_ROWS)
def _decode_metadata(metadata: str) -> Mapping[str, MetadataValue]:
    """Decode metadata once for hits that several questions share; it is read-only."""
    decoded: dict[str, MetadataValue] = from_json(metadata)
    return decoded


class _Mergeable(Protocol):
    @property
    def rows(self) -> Positions: ...

    def merge(self, later: Self) -> Self: ...


J = TypeVar("J", bound=_Mergeable)


def _push(stack: list[J], new: J) -> None:
    """Merge arrays of similar size, so that there are few and an entry seldom moves."""
    while stack and len(stack[-1].rows) <= 2 * len(new.rows):
        new = stack.pop().merge(new)
    stack.append(new)


def _build_postings(rows: Sequence[StoredRow], first: int) -> Postings:
    counts = [len(row.indices) // 4 for row in rows]
    return Postings.build(
        np.frombuffer(b"".join(row.indices for row in rows), np.uint32),
        np.repeat(np.arange(first, first + len(rows), dtype=np.int32), counts),
        np.frombuffer(b"".join(row.weights for row in rows), np.float32),
    )
