"""Documents in SQLite, within the limits of Firestore: what works here works in the cloud."""

import asyncio
import json
import random
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from shared.adapters import firestore_limits as limits
from shared.adapters.document_changes import changed, project
from shared.adapters.firestore_indexes import FirestoreIndexes, group_of
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_json import JsonFields, dumps, loads
from shared.adapters.sqlite_keys import count_entries, index_keys
from shared.adapters.sqlite_queries import create_index, select
from shared.domain.documents import Create, Delete, Document, Fields, Query, Set, Update, Write
from shared.domain.errors import AlreadyExists, Invalid, PreconditionFailed, Unavailable
from shared.ports import Transaction

T = TypeVar("T")

ATTEMPTS = 10
MAX_INDEX_ENTRIES = 40_000

# `keys` is what queries see of `fields`; it stands first, so that they read no long document.
SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    path TEXT NOT NULL UNIQUE,
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    version TEXT NOT NULL,
    keys TEXT NOT NULL,
    fields TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS documents_collection ON documents (collection, id);
"""
READ = """
SELECT wanted.value, version, fields
FROM json_each(?) AS wanted LEFT JOIN documents ON documents.path = wanted.value
ORDER BY wanted.key
"""
VERSIONS = """
SELECT version FROM json_each(?) AS wanted LEFT JOIN documents ON documents.path = wanted.value
ORDER BY wanted.key
"""
STORE = """
INSERT INTO documents (path, collection, id, version, keys, fields) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (path) DO UPDATE
SET version = excluded.version, keys = excluded.keys, fields = excluded.fields
"""
TREE = "path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0')"  # '0' follows '/'


class OnChange(Protocol):
    """Called inside the transaction for each document that changes; None where there is none."""

    def __call__(
        self, connection: sqlite3.Connection, path: str, old: Fields | None, new: Fields | None, /
    ) -> None: ...


class SqliteDocuments:
    """The Documents port on one SQLite file."""

    def __init__(
        self,
        database: SqliteDatabase,
        indexes: FirestoreIndexes,
        *,
        on_change: OnChange | None = None,
    ) -> None:
        database.schema(SCHEMA)
        self._database = database
        self._indexes = indexes
        self._on_change = on_change
        self._made: set[str] = set()

    async def get(self, path: str) -> Document | None:
        return (await self.get_many([path]))[0]

    async def get_many(self, paths: Sequence[str]) -> list[Document | None]:
        for path in paths:
            limits.check_document_path(path)
        return await self._database.read(lambda c: _read(c, paths, JsonFields))

    async def query(self, query: Query) -> list[Document]:
        sql, values = self._select(query, "path, version, fields")
        rows = await self._database.read(lambda c: c.execute(sql, values).fetchall())
        return [_document(row, query.fields) for row in rows]

    async def count(self, query: Query) -> int:
        sql, values = self._select(query, "1")
        rows = await self._database.read(lambda c: c.execute(sql, values).fetchall())
        return len(rows)

    async def write(self, *writes: Write) -> None:
        limits.check_writes(writes)
        await self._database.write(lambda connection: self._apply(connection, writes))

    async def transaction(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        for attempt in range(ATTEMPTS):
            transaction = _Transaction(self)
            value = await work(transaction)
            if await self._commit(transaction):
                return value
            await asyncio.sleep(random.uniform(0, 0.002 * 2**attempt))  # noqa: S311 - no secret
        raise Unavailable("Others change the same documents")

    async def delete_tree(self, path: str) -> int:
        limits.check_document_path(path)
        return await self._database.write(lambda connection: self._delete_tree(connection, path))

    def _select(self, query: Query, columns: str) -> tuple[str, list[Any]]:
        limits.check_query(query)
        self._indexes.check(query)
        self._make_index(query)
        return select(query, columns)

    def _make_index(self, query: Query) -> None:
        """Let SQLite seek, when a query of this shape comes for the first time."""
        index = create_index(query)
        if index is not None and index not in self._made:
            self._database.schema(index)
            self._made.add(index)

    async def _commit(self, transaction: "_Transaction") -> bool:
        """Apply the buffered writes if all that was read still stands; say whether it did."""
        limits.check_writes(transaction.writes)

        def commit(connection: sqlite3.Connection) -> bool:
            if _versions(connection, list(transaction.read)) != [*transaction.read.values()]:
                return False
            self._apply(connection, transaction.writes)
            return True

        return await self._database.write(commit)

    def _apply(self, connection: sqlite3.Connection, writes: Sequence[Write]) -> None:
        version = uuid4().hex
        for write in writes:
            (old,) = _read(connection, [write.path], loads)
            _check_precondition(write, old)
            self._replace(connection, write.path, old, _outcome(write, old), version)

    def _replace(
        self,
        connection: sqlite3.Connection,
        path: str,
        old: Document | None,
        new: Fields | None,
        version: str,
    ) -> None:
        if new is None:
            connection.execute("DELETE FROM documents WHERE path = ?", (path,))
        else:
            connection.execute(STORE, self._row(path, new, version))
        before = old.fields if old else None
        if self._on_change is not None and before != new:
            self._on_change(connection, path, before, new)

    def _row(self, path: str, fields: Fields, version: str) -> tuple[str, ...]:
        collection, _, name = path.rpartition("/")
        group = group_of(collection)
        keys = index_keys(fields, lambda field: self._indexes.is_exempt(group, field))
        if count_entries(keys) > MAX_INDEX_ENTRIES:
            raise Invalid(f"A document has at most {MAX_INDEX_ENTRIES} index entries")
        return path, collection, name, version, json.dumps(keys), dumps(dict(fields))

    def _delete_tree(self, connection: sqlite3.Connection, path: str) -> int:
        rows = connection.execute(
            f"SELECT path, version, fields FROM documents WHERE {TREE}",  # noqa: S608 - a constant
            (path,),
        ).fetchall()
        for row in rows:
            self._replace(connection, row[0], _document(row), None, "")
        return len(rows)


class _Transaction:
    """One attempt: remembers the version of what it read, None where nothing was."""

    def __init__(self, documents: SqliteDocuments) -> None:
        self._documents = documents
        self.read: dict[str, str | None] = {}
        self.writes: list[Write] = []

    async def get(self, path: str) -> Document | None:
        return (await self.get_many([path]))[0]

    async def get_many(self, paths: Sequence[str]) -> list[Document | None]:
        if self.writes:
            raise Invalid("A transaction reads before it writes")
        found = await self._documents.get_many(paths)
        for path, document in zip(paths, found, strict=True):
            self.read.setdefault(path, _version(document))
        return found

    def write(self, *writes: Write) -> None:
        self.writes += writes


def _read(
    connection: sqlite3.Connection, paths: Sequence[str], decode: Callable[[str], Fields]
) -> list[Document | None]:
    rows = connection.execute(READ, (json.dumps(paths),)).fetchall()
    return [
        None if version is None else Document(path=path, version=version, fields=decode(text))
        for path, version, text in rows
    ]


def _versions(connection: sqlite3.Connection, paths: Sequence[str]) -> list[str | None]:
    return [version for (version,) in connection.execute(VERSIONS, (json.dumps(paths),))]


def _version(document: Document | None) -> str | None:
    return document.version if document else None


def _document(row: tuple[str, str, str], wanted: Sequence[str] | None = None) -> Document:
    path, version, text = row
    fields = loads(text)
    return Document(
        path=path, version=version, fields=fields if wanted is None else project(fields, wanted)
    )


def _check_precondition(write: Write, old: Document | None) -> None:
    if isinstance(write, Create) and old is not None:
        raise AlreadyExists(f"There is a document at {write.path!r}")
    if isinstance(write, Update) and old is None:
        raise PreconditionFailed(f"There is no document at {write.path!r}")
    if (
        isinstance(write, Update | Delete)
        and write.version is not None
        and (old is None or old.version != write.version)
    ):
        raise PreconditionFailed(f"The document at {write.path!r} has changed")


def _outcome(write: Write, old: Document | None) -> Fields | None:
    """Return what stands at the path after a write whose precondition holds."""
    match write:
        case Create(fields=fields) | Set(fields=fields):
            return fields
        case Update(changes=changes):
            fields = changed(old.fields if old else {}, changes)
            limits.check_fields(write.path, fields)
            return fields
        case Delete():
            return None
