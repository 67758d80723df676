"""Documents on SQLite, within the limits of Firestore: what works here works in the cloud."""

import asyncio
import json
import random
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from uuid import uuid4

from shared.adapters import firestore_limits as limits
from shared.adapters.document_changes import apply_changes
from shared.adapters.document_json import dumps, loads, loads_later
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_keys import build_index_keys, count_entries
from shared.adapters.embedded.sqlite_queries import (
    CREATE_DUE_INDEX,
    SELECT_USERS,
    build_create_indexes,
    build_json_path,
    build_select,
    build_select_due,
)
from shared.adapters.firestore_indexes import (
    FirestoreIndexes,
    find_shape,
    get_collection_group,
    order_by_summed,
)
from shared.domain.errors import AlreadyExists, Invalid, PreconditionFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.store.documents import (
    Create,
    Delete,
    Document,
    Fields,
    Query,
    Set,
    Update,
    Write,
)
from shared.resilience.retry import retry

if TYPE_CHECKING:
    from shared.ports import Transaction

T = TypeVar("T")

MAX_ATTEMPTS = 10
MAX_INDEX_ENTRIES = 40_000
MAX_BRIEF = 20
"""Documents that are read or written without a thread."""

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
SELECT_DOCUMENTS = """
SELECT wanted.value ->> 0, version, iif(version IS NOT wanted.value ->> 1, fields, NULL)
FROM json_each(?) AS wanted LEFT JOIN documents ON documents.path = wanted.value ->> 0
ORDER BY wanted.key
"""
SELECT_VERSIONS = """
SELECT version FROM json_each(?) AS wanted LEFT JOIN documents ON documents.path = wanted.value
ORDER BY wanted.key
"""
UPSERT_DOCUMENT = """
INSERT INTO documents (path, collection, id, version, keys, fields) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (path) DO UPDATE
SET version = excluded.version, keys = excluded.keys, fields = excluded.fields
"""
TREE_CONDITION = "path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0')"  # '0' follows '/'


class ChangeListener(Protocol):
    """Called inside the transaction for each changed document; None: no listener."""

    def __call__(
        self, connection: sqlite3.Connection, path: str, old: Fields | None, new: Fields | None, /
    ) -> None: ...


class _Contended(Unavailable):
    """Another transaction has changed what this one read."""


def _compute_backoff_s(attempt: int, _: Unavailable) -> float:
    return random.uniform(0, 0.001 * 2**attempt)  # noqa: S311 - no secret


class SqliteDocuments:
    """The Documents port on one SQLite file."""

    def __init__(
        self,
        database: SqliteDatabase,
        indexes: FirestoreIndexes,
        *,
        on_change: ChangeListener | None = None,
    ) -> None:
        database.add_schema(SCHEMA)
        self._database = database
        self._indexes = indexes
        self._is_exempt = lru_cache(maxsize=10_000)(indexes.is_exempt)
        self._on_change = on_change
        self._created_indexes: set[str] = set()
        self._indexed_shapes: set[tuple[object, ...]] = set()

    async def get(self, path: str) -> Document | None:
        return (await self.get_many([path]))[0]

    async def get_many(
        self, paths: Sequence[str], *, known: Mapping[str, str] | None = None
    ) -> list[Document | None]:
        for path in paths:
            limits.check_document_path(path)
        return await self._database.read(
            lambda c: _read_documents(c, paths, loads_later, known or {}),
            is_brief=len(paths) <= MAX_BRIEF,
        )

    async def query(self, query: Query) -> list[Document]:
        sql, values = self._select(query, "path, version, fields")
        is_brief = query.limit is not None and query.limit <= MAX_BRIEF
        rows = await self._database.read(
            lambda c: c.execute(sql, values).fetchall(), is_brief=is_brief
        )
        return [_to_document(row, query.fields) for row in rows]

    async def list_due(
        self, collection_name: str, until: datetime, *, limit: int, after: datetime | None = None
    ) -> list[Document]:
        self._indexes.check_due(collection_name)
        self._create_index(CREATE_DUE_INDEX)
        sql, values = build_select_due(collection_name, until, after, limit)
        rows = await self._database.read(lambda c: c.execute(sql, values).fetchall())
        return [_to_document(row) for row in rows]

    async def list_users(self, limit: int, *, after: str | None) -> tuple[list[UserId], str | None]:
        rows = await self._database.read(
            lambda c: c.execute(SELECT_USERS, (after or "", limit)).fetchall()
        )
        users = [UserId(uid) for (uid,) in rows]
        return users, users[-1] if len(users) == limit else None

    async def count(self, query: Query) -> int:
        sql, values = self._select(query, "1")
        counting = f"SELECT count(*) FROM ({sql})"  # noqa: S608 - as the query is built
        [(total,)] = await self._database.read(lambda c: c.execute(counting, values).fetchall())
        return int(total)

    async def sum(self, query: Query, fields: Sequence[str]) -> list[int]:
        columns = ", ".join("json_extract(fields, ?)" for _ in fields)
        sql, values = self._select(order_by_summed(query, fields), columns)
        values = [*map(build_json_path, fields), *values]
        rows = await self._database.read(lambda c: c.execute(sql, values).fetchall())
        return [sum(column) for column in zip(*rows, strict=True)] or [0 for _ in fields]

    async def write(self, *writes: Write) -> None:
        limits.check_writes(writes)
        await self._database.write(
            lambda connection: self._apply(connection, writes), is_brief=len(writes) <= MAX_BRIEF
        )

    async def transaction(self, work: "Callable[[Transaction], Awaitable[T]]") -> T:
        async def attempt() -> T:
            transaction = _SqliteTransaction(self)
            value = await work(transaction)
            await self._commit(transaction)
            return value

        return await retry(
            attempt,
            sleep=asyncio.sleep,
            on=_Contended,
            attempts=MAX_ATTEMPTS,
            backoff=_compute_backoff_s,
        )

    async def delete_tree(self, path: str) -> int:
        limits.check_document_path(path)
        return await self._database.write(lambda connection: self._delete_tree(connection, path))

    def _select(self, query: Query, columns: str) -> tuple[str, list[Any]]:
        limits.check_query(query)
        if (shape := find_shape(query)) not in self._indexed_shapes:
            self._indexes.check(query)
            for index in build_create_indexes(query):
                self._create_index(index)
            self._indexed_shapes.add(shape)
        return build_select(query, columns)

    def _create_index(self, index: str) -> None:
        if index not in self._created_indexes:
            self._database.add_schema(index)
            self._created_indexes.add(index)

    async def _commit(self, transaction: "_SqliteTransaction") -> None:
        """Apply the buffered writes. Raises _Contended if a document that was read has changed."""
        limits.check_writes(transaction.writes)

        def commit(connection: sqlite3.Connection) -> None:
            if _read_versions(connection, list(transaction.versions_read)) != [
                *transaction.versions_read.values()
            ]:
                raise _Contended("Other writers change the same documents")
            self._apply(connection, transaction.writes)

        await self._database.write(commit, is_brief=len(transaction.writes) <= MAX_BRIEF)

    def _apply(self, connection: sqlite3.Connection, writes: Sequence[Write]) -> None:
        version = uuid4().hex
        paths = [*{write.path: None for write in writes}]
        stored = dict(zip(paths, _read_documents(connection, paths, loads), strict=True))
        for write in writes:
            if write.path not in stored:  # it was written a moment ago
                stored[write.path] = _read_documents(connection, [write.path], loads)[0]
            old = stored.pop(write.path)
            _check_precondition(write, old)
            self._replace(connection, write.path, old, _compute_fields(write, old), version)

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
            connection.execute(UPSERT_DOCUMENT, self._to_row(path, new, version))
        old_fields = old.fields if old else None
        if self._on_change is not None and old_fields != new:
            self._on_change(connection, path, old_fields, new)

    def _to_row(self, path: str, fields: Fields, version: str) -> tuple[str, ...]:
        collection, _, name = path.rpartition("/")
        group = get_collection_group(collection)
        keys = build_index_keys(fields, partial(self._is_exempt, group))
        if count_entries(keys) > MAX_INDEX_ENTRIES:
            raise Invalid(f"A document has at most {MAX_INDEX_ENTRIES} index entries")
        return path, collection, name, version, json.dumps(keys), dumps(dict(fields))

    def _delete_tree(self, connection: sqlite3.Connection, path: str) -> int:
        rows = connection.execute(
            f"SELECT path, version, fields FROM documents WHERE {TREE_CONDITION}",  # noqa: S608 - a constant
            (path,),
        ).fetchall()
        for row in rows:
            self._replace(connection, row[0], _to_document(row), None, "")
        return len(rows)


class _SqliteTransaction:
    """One attempt: remembers the version of each read, None for a missing document."""

    def __init__(self, documents: SqliteDocuments) -> None:
        self._documents = documents
        self.versions_read: dict[str, str | None] = {}
        self.writes: list[Write] = []

    async def get(self, path: str) -> Document | None:
        return (await self.get_many([path]))[0]

    async def get_many(self, paths: Sequence[str]) -> list[Document | None]:
        if self.writes:
            raise Invalid("A transaction reads before it writes")
        documents = await self._documents.get_many(paths)
        for path, document in zip(paths, documents, strict=True):
            self.versions_read.setdefault(path, document.version if document else None)
        return documents

    def write(self, *writes: Write) -> None:
        self.writes += writes


def _read_documents(
    connection: sqlite3.Connection,
    paths: Sequence[str],
    decode: Callable[[str], Fields],
    known: Mapping[str, str] = MappingProxyType({}),
) -> list[Document | None]:
    """Read documents: those of a known version without fields, since megabytes of text take milliseconds."""
    wanted = json.dumps([(path, known.get(path)) for path in paths])
    rows = connection.execute(SELECT_DOCUMENTS, (wanted,)).fetchall()
    return [
        Document(path=path, version=version, fields=decode(text) if text else {})
        if version
        else None
        for path, version, text in rows
    ]


def _read_versions(connection: sqlite3.Connection, paths: Sequence[str]) -> list[str | None]:
    return [version for (version,) in connection.execute(SELECT_VERSIONS, (json.dumps(paths),))]


def _to_document(row: tuple[str, str, str], field_paths: Sequence[str] | None = None) -> Document:
    path, version, text = row
    return Document(path=path, version=version, fields=loads(text, field_paths))


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


def _compute_fields(write: Write, old: Document | None) -> Fields | None:
    """Return the document at the path after a write whose precondition holds."""
    match write:
        case Create(fields=fields) | Set(fields=fields):
            return fields
        case Update(changes=changes):
            fields = apply_changes(old.fields if old else {}, changes)
            limits.check_fields(write.path, fields)
            return fields
        case Delete():
            return None
