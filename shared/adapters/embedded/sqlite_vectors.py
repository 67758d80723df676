"""Vectors on SQLite: stored as rows, searched exactly in memory."""

import json
import sqlite3
import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from shared.adapters.embedded.dense_blobs import decode_dense, encode_dense
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.pinecone_rules import check_dense, check_row
from shared.domain.store.vectors import Filter, Hit, Row, SparseVector, WaitingText

if TYPE_CHECKING:
    from shared.adapters.embedded.exact_index import ExactIndex, StoredRows

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
CREATE TABLE IF NOT EXISTS vector_dense (
  namespace TEXT, id TEXT, vector BLOB NOT NULL, PRIMARY KEY (namespace, id)
);
CREATE TABLE IF NOT EXISTS vector_texts (
  number INTEGER PRIMARY KEY, namespace TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL,
  UNIQUE (namespace, id)
);
"""
_TABLES = ("vector_rows", "vector_dense", "vector_texts", "vector_namespaces")
MAX_ROWS_IN_MEMORY = 250_000
"""Rows in memory over all namespaces, at about 1.5 KB each without dense values."""

_SELECT_CHANGED = """
SELECT vector, id, indices, weights, metadata, metadata -> '$.kind', metadata -> '$.conversation_id',
  iif(json_type(metadata, '$.created_at') IN ('integer', 'real'), metadata ->> '$.created_at', NULL)
FROM vector_rows LEFT JOIN vector_dense USING (namespace, id)
WHERE namespace = ? AND version > ? ORDER BY version, id
"""
_SELECT_BY_ID = """
SELECT id, indices, weights, vector, metadata
FROM vector_rows LEFT JOIN vector_dense USING (namespace, id)
WHERE namespace = ? AND id IN (SELECT value FROM json_each(?))
"""
_SELECT_WAITING = "SELECT namespace, id, text FROM vector_texts ORDER BY number LIMIT ?"
_DELETE_WAITING = "DELETE FROM vector_texts WHERE namespace = ? AND id = ? AND text = ?"


class SqliteVectors:
    """One table for all users; each write raises its namespace's version.

    A search first reads the rows written since the version in memory, by any process; after a
    delete it reads which ids are left.
    """

    def __init__(self, database: SqliteDatabase, *, max_rows: int = MAX_ROWS_IN_MEMORY) -> None:
        database.add_schema(SCHEMA)
        self._database = database
        self._max_rows = max_rows
        self._indexes: OrderedDict[str, ExactIndex] = OrderedDict()
        self._lock = threading.Lock()

    async def upsert(self, namespace: str, rows: Sequence[Row]) -> None:
        def work(connection: sqlite3.Connection) -> None:
            for row in rows:
                check_row(row)
            version = _raise_version(connection, namespace)
            connection.executemany(
                "REPLACE INTO vector_rows VALUES (?, ?, ?, ?, ?, ?)",
                [(namespace, row.id, version, *_encode(row)) for row in rows],
            )
            _write_dense(connection, namespace, rows)
            _write_texts(connection, namespace, rows)

        await self._database.write(work)

    async def list_waiting(self, limit: int) -> list[WaitingText]:
        """Return texts that wait to be embedded, of all users, in the order of arrival."""

        def work(connection: sqlite3.Connection) -> list[WaitingText]:
            rows = connection.execute(_SELECT_WAITING, (limit,))
            return [
                WaitingText(namespace=name, row_id=row_id, text=text) for name, row_id, text in rows
            ]

        return await self._database.read(work)

    async def count_waiting(self, namespace: str | None = None) -> int:
        """Count the texts that wait to be embedded, of a namespace or of all."""
        return await self._count("vector_texts", namespace)

    async def count_embedded(self, namespace: str | None = None) -> int:
        """Count the rows that have dense values, of a namespace or of all."""
        return await self._count("vector_dense", namespace)

    async def _count(self, table: str, namespace: str | None) -> int:
        where, values = (" WHERE namespace = ?", (namespace,)) if namespace else ("", ())
        statement = f"SELECT count(*) FROM {table}{where}"  # noqa: S608 - our tables

        def work(connection: sqlite3.Connection) -> int:
            [count] = connection.execute(statement, values).fetchone()
            return int(count)

        return await self._database.read(work)

    async def drop_waiting(self, text: WaitingText) -> None:
        """Let a row wait no longer, without an embedding."""
        key = (text.namespace, text.row_id, text.text)
        await self._database.write(lambda connection: connection.execute(_DELETE_WAITING, key))

    async def add_dense(
        self, texts: Sequence[WaitingText], vectors: Sequence[Sequence[float]]
    ) -> None:
        """Give rows the embeddings of their waiting texts; not those that have another text by now, or are gone."""

        def work(connection: sqlite3.Connection) -> None:
            for each, vector in zip(texts, vectors, strict=True):
                key = (each.namespace, each.row_id)
                if not connection.execute(_DELETE_WAITING, (*key, each.text)).rowcount:
                    continue
                version = _raise_version(connection, each.namespace)
                connection.execute(
                    "UPDATE vector_rows SET version = ? WHERE namespace = ? AND id = ?",
                    (version, *key),
                )
                connection.execute(
                    "REPLACE INTO vector_dense VALUES (?, ?, ?)",
                    (*key, encode_dense(vector)),
                )

        await self._database.write(work)

    async def fetch(self, namespace: str, ids: Sequence[str]) -> dict[str, Row]:
        def work(connection: sqlite3.Connection) -> dict[str, Row]:
            rows = connection.execute(_SELECT_BY_ID, (namespace, json.dumps(list(ids))))
            return {row_id: _decode(row_id, *stored) for row_id, *stored in rows}

        return await self._database.read(work)

    async def query_sparse(
        self, namespace: str, query: SparseVector, *, limit: int, where: Filter | None = None
    ) -> list[Hit]:
        return await self._search(
            namespace, lambda index: index.search_sparse(query, limit, where or {})
        )

    async def query_dense(
        self,
        namespace: str,
        vector: Sequence[float],
        *,
        limit: int,
        where: Filter | None = None,
    ) -> list[Hit]:
        check_dense(vector)
        return await self._search(
            namespace, lambda index: index.search_dense(vector, limit, where or {})
        )

    async def delete(self, namespace: str, ids: Sequence[str]) -> None:
        row_keys = [(namespace, row_id) for row_id in ids]

        def work(connection: sqlite3.Connection) -> None:
            for table in ("vector_dense", "vector_texts"):
                connection.executemany(
                    f"DELETE FROM {table} WHERE namespace = ? AND id = ?",  # noqa: S608 - our tables
                    row_keys,
                )
            result = connection.executemany(
                "DELETE FROM vector_rows WHERE namespace = ? AND id = ?", row_keys
            )
            if result.rowcount:
                _mark_shrunk(connection, namespace)

        await self._database.write(work)

    async def delete_namespace(self, namespace: str) -> None:
        def work(connection: sqlite3.Connection) -> None:
            for table in _TABLES:
                connection.execute(f"DELETE FROM {table} WHERE namespace = ?", (namespace,))  # noqa: S608 - our tables

        await self._database.write(work)

    async def _search(self, namespace: str, ask: "Callable[[ExactIndex], list[Hit]]") -> list[Hit]:
        """Search the namespace in this snapshot; other namespaces are searched at the same time."""

        def work(connection: sqlite3.Connection) -> list[Hit]:
            version, shrunk_at = _read_versions(connection, namespace)
            if not version:
                self._evict(namespace)
                return []
            index = self._get_index(namespace)
            with index.lock:
                if 0 < index.version < shrunk_at:
                    index.retain_only(_read_ids(connection, namespace))
                if index.version < version:
                    index.update(_read_rows(connection, namespace, after=index.version), version)
                return ask(index)

        return await self._database.read(work)

    def _get_index(self, namespace: str) -> "ExactIndex":
        """Return the cached index of a namespace, and evict those used least recently."""
        from shared.adapters.embedded.exact_index import ExactIndex

        with self._lock:
            index = self._indexes.pop(namespace, None)
            if index is None or index.is_worn():
                index = ExactIndex()
            self._indexes[namespace] = index
            while len(self._indexes) > 1 and sum(map(len, self._indexes.values())) > self._max_rows:
                self._indexes.popitem(last=False)
            return index

    def _evict(self, namespace: str) -> None:
        with self._lock:
            self._indexes.pop(namespace, None)


def _read_ids(connection: sqlite3.Connection, namespace: str) -> set[str]:
    rows = connection.execute("SELECT id FROM vector_rows WHERE namespace = ?", (namespace,))
    return {row_id for (row_id,) in rows}


def _read_rows(connection: sqlite3.Connection, namespace: str, *, after: int) -> "StoredRows":
    from shared.adapters.embedded.exact_index import StoredRow, StoredRows

    stored = StoredRows()
    for dense, *row in connection.execute(_SELECT_CHANGED, (namespace, after)):
        stored.add(StoredRow(*row), dense)
    return stored


def _write_dense(connection: sqlite3.Connection, namespace: str, rows: Sequence[Row]) -> None:
    connection.executemany(
        "DELETE FROM vector_dense WHERE namespace = ? AND id = ?",
        [(namespace, row.id) for row in rows if row.dense is None],
    )
    connection.executemany(
        "REPLACE INTO vector_dense VALUES (?, ?, ?)",
        [(namespace, row.id, encode_dense(row.dense)) for row in rows if row.dense],
    )


def _write_texts(connection: sqlite3.Connection, namespace: str, rows: Sequence[Row]) -> None:
    connection.executemany(
        "DELETE FROM vector_texts WHERE namespace = ? AND id = ?",
        [(namespace, row.id) for row in rows if row.text is None],
    )
    connection.executemany(
        "REPLACE INTO vector_texts (namespace, id, text) VALUES (?, ?, ?)",
        [(namespace, row.id, row.text) for row in rows if row.text is not None],
    )


def _encode(row: Row) -> tuple[bytes, bytes, str]:
    indices = array("I", row.sparse.indices).tobytes()
    weights = array("f", row.sparse.values).tobytes()
    return indices, weights, json.dumps(dict(row.metadata), ensure_ascii=False)


def _decode(row_id: str, indices: bytes, weights: bytes, dense: bytes | None, metadata: str) -> Row:
    return Row(
        id=row_id,
        sparse=SparseVector(tuple(array("I", indices)), tuple(array("f", weights))),
        dense=None if dense is None else decode_dense(dense),
        metadata=json.loads(metadata),
    )


def _raise_version(connection: sqlite3.Connection, namespace: str) -> int:
    """Return the namespace's next version; a version is never reused, even after a deletion."""
    (version,) = connection.execute(
        "UPDATE vector_clock SET version = version + 1 RETURNING version"
    ).fetchone()
    connection.execute(
        "INSERT INTO vector_namespaces VALUES (?1, ?2, ?2)"
        " ON CONFLICT DO UPDATE SET version = excluded.version",
        (namespace, version),
    )
    return int(version)


def _mark_shrunk(connection: sqlite3.Connection, namespace: str) -> None:
    _raise_version(connection, namespace)
    connection.execute(
        "UPDATE vector_namespaces SET shrunk_at = version WHERE namespace = ?", (namespace,)
    )


def _read_versions(connection: sqlite3.Connection, namespace: str) -> tuple[int, int]:
    row = connection.execute(
        "SELECT version, shrunk_at FROM vector_namespaces WHERE namespace = ?", (namespace,)
    ).fetchone()
    return row or (0, 0)
