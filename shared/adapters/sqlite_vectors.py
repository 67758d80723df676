"""Vectors in SQLite: rows are stored, and searched exactly in memory."""

import heapq
import json
import sqlite3
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import islice

from shared.adapters.pinecone_rules import Metadata, check_row, matches
from shared.adapters.sqlite_database import SqliteDatabase
from shared.domain.vectors import Filter, Hit, Row, SparseVector

SCHEMA = """
CREATE TABLE IF NOT EXISTS vector_clock (id INTEGER PRIMARY KEY, version INTEGER NOT NULL);
INSERT OR IGNORE INTO vector_clock VALUES (1, 0);
CREATE TABLE IF NOT EXISTS vector_namespaces (
  namespace TEXT PRIMARY KEY, version INTEGER NOT NULL, shrunk_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vector_rows (
  namespace TEXT, id TEXT, version INTEGER NOT NULL,
  indices BLOB NOT NULL, weights BLOB NOT NULL, metadata TEXT NOT NULL,
  PRIMARY KEY (namespace, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS vector_rows_by_version ON vector_rows (namespace, version);
"""
NAMESPACES_HELD = 64
FEW = 2


class SqliteVectors:
    """One table for all; each write raises its namespace's version.

    A search first takes in what was written since the version it holds, by whichever process;
    a delete makes it read the namespace anew.
    """

    def __init__(self, database: SqliteDatabase) -> None:
        database.schema(SCHEMA)
        self._database = database
        self._held: OrderedDict[str, _Index] = OrderedDict()
        self._lock = threading.Lock()

    async def upsert(self, namespace: str, rows: Sequence[Row]) -> None:
        for row in rows:
            check_row(row)

        def work(connection: sqlite3.Connection) -> None:
            version = _raise_version(connection, namespace)
            connection.executemany(
                "REPLACE INTO vector_rows VALUES (?, ?, ?, ?, ?, ?)",
                [(namespace, row.id, version, *_encode(row)) for row in rows],
            )

        await self._database.write(work)

    async def query_sparse(
        self, namespace: str, query: SparseVector, *, limit: int, where: Filter | None = None
    ) -> list[Hit]:
        def work(connection: sqlite3.Connection) -> list[Hit]:
            with self._lock:
                return self._index(connection, namespace).search(query, limit, where or {})

        return await self._database.read(work)

    async def delete(self, namespace: str, ids: Sequence[str]) -> None:
        def work(connection: sqlite3.Connection) -> None:
            deleted = connection.executemany(
                "DELETE FROM vector_rows WHERE namespace = ? AND id = ?",
                [(namespace, row_id) for row_id in ids],
            )
            if deleted.rowcount:
                _shrink(connection, namespace)

        await self._database.write(work)

    async def delete_namespace(self, namespace: str) -> None:
        def work(connection: sqlite3.Connection) -> None:
            for table in ("vector_rows", "vector_namespaces"):
                connection.execute(f"DELETE FROM {table} WHERE namespace = ?", (namespace,))  # noqa: S608 - our tables

        await self._database.write(work)

    def _index(self, connection: sqlite3.Connection, namespace: str) -> "_Index":
        """Return the namespace as this snapshot has it; the least recently used one is let go."""
        version, shrunk_at = _versions(connection, namespace)
        index = self._held.pop(namespace, None)
        if index is None or not shrunk_at <= index.version <= version or index.is_worn():
            index = _Index()
        if index.version < version:
            index.take_in(connection, namespace, version)
        self._held[namespace] = index
        if len(self._held) > NAMESPACES_HELD:
            self._held.popitem(last=False)
        return index


class _Index:
    """Term → the rows that hold it, by position; a replaced row leaves its position empty."""

    def __init__(self) -> None:
        self.version = 0
        self._ids: list[str] = []
        self._metadata: list[Metadata | None] = []
        self._positions: dict[str, int] = {}
        self._postings: dict[int, tuple[array[int], array[float]]] = {}

    def is_worn(self) -> bool:
        """Tell whether most positions are empty: reading anew then costs less than it frees."""
        return len(self._ids) > 2 * len(self._positions)

    def take_in(self, connection: sqlite3.Connection, namespace: str, version: int) -> None:
        rows = connection.execute(
            "SELECT id, indices, weights, metadata FROM vector_rows"
            " WHERE namespace = ? AND version > ?",
            (namespace, self.version),
        )
        for row_id, indices, weights, metadata in rows:
            self._add(row_id, array("I", indices), array("f", weights), json.loads(metadata))
        self.version = version

    def _add(
        self, row_id: str, indices: "array[int]", weights: "array[float]", metadata: Metadata
    ) -> None:
        if row_id in self._positions:
            self._metadata[self._positions[row_id]] = None
        position = self._positions[row_id] = len(self._ids)
        self._ids.append(row_id)
        self._metadata.append(metadata)
        for term, weight in zip(indices, weights, strict=True):
            if term not in self._postings:
                self._postings[term] = array("I"), array("f")
            rows, values = self._postings[term]
            rows.append(position)
            values.append(weight)

    def search(self, query: SparseVector, limit: int, where: Filter) -> list[Hit]:
        """Sort the best few; all of them only where the filter leaves too few of these."""
        scores = self._scores(query)
        for width in (FEW * limit, len(scores)):
            best = heapq.nlargest(width, range(len(scores)), key=scores.__getitem__)
            hits = list(islice(self._hits(best, scores, where), limit))
            if len(hits) == limit or not best or not scores[best[-1]]:
                break
        return hits

    def _hits(
        self, positions: Sequence[int], scores: Sequence[float], where: Filter
    ) -> Iterator[Hit]:
        for position in positions:
            score, metadata = scores[position], self._metadata[position]
            if score > 0 and metadata is not None and matches(where, metadata):
                yield Hit(id=self._ids[position], score=score, metadata=metadata)

    def _scores(self, query: SparseVector) -> list[float]:
        scores = [0.0] * len(self._ids)
        for term, weight in zip(query.indices, query.values, strict=True):
            for position, value in zip(*self._postings.get(term, ((), ())), strict=True):
                scores[position] += weight * value
        return scores


def _encode(row: Row) -> tuple[bytes, bytes, str]:
    indices = array("I", row.sparse.indices).tobytes()
    weights = array("f", row.sparse.values).tobytes()
    return indices, weights, json.dumps(dict(row.metadata), ensure_ascii=False)


def _raise_version(connection: sqlite3.Connection, namespace: str) -> int:
    """Return the namespace's next version; none is given twice, even after it was deleted."""
    (version,) = connection.execute(
        "UPDATE vector_clock SET version = version + 1 RETURNING version"
    ).fetchone()
    connection.execute(
        "INSERT INTO vector_namespaces VALUES (?1, ?2, ?2)"
        " ON CONFLICT DO UPDATE SET version = excluded.version",
        (namespace, version),
    )
    return int(version)


def _shrink(connection: sqlite3.Connection, namespace: str) -> None:
    _raise_version(connection, namespace)
    connection.execute(
        "UPDATE vector_namespaces SET shrunk_at = version WHERE namespace = ?", (namespace,)
    )


def _versions(connection: sqlite3.Connection, namespace: str) -> tuple[int, int]:
    row = connection.execute(
        "SELECT version, shrunk_at FROM vector_namespaces WHERE namespace = ?", (namespace,)
    ).fetchone()
    return row or (0, 0)
