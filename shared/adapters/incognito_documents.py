"""Documents of which those of incognito chats stay in the memory of the process."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from shared.domain.chats.storage_mode import is_incognito
from shared.domain.store.documents import Create, Document, Query, Set, Write
from shared.ports import Documents, Transaction

T = TypeVar("T")
_COLLECTIONS = frozenset({"chat_sessions", "messages", "runs", "embeds"})
_SESSION_FIELDS = ("session_id", "session_ids")


class _MeetsIncognito(Exception):
    """A transaction touches a document of an incognito chat."""


class IncognitoDocuments:
    """Documents that keep chats, messages, runs and embeds apart, by their ids, that are incognito.

    `open_memory` opens what keeps those; it is called with the first of them.
    """

    def __init__(self, documents: Documents, open_memory: Callable[[], Documents]) -> None:
        self._documents = documents
        self._open_memory = open_memory

    @cached_property
    def _memory(self) -> Documents:
        return self._open_memory()

    async def get(self, path: str) -> Document | None:
        return (await self.get_many([path]))[0]

    async def get_many(
        self, paths: Sequence[str], *, known: Mapping[str, str] | None = None
    ) -> list[Document | None]:
        kept_apart = [path for path in paths if _is_apart(path)]
        if not kept_apart:
            return await self._documents.get_many(paths, known=known)
        stored = [path for path in paths if not _is_apart(path)]
        found = dict(zip(kept_apart, await self._memory.get_many(kept_apart), strict=True))
        if stored:
            found |= dict(zip(stored, await self._documents.get_many(stored), strict=True))
        return [found[path] for path in paths]

    async def query(self, query: Query) -> list[Document]:
        return await self._choose(query).query(query)

    async def count(self, query: Query) -> int:
        return await self._choose(query).count(query)

    async def sum(self, query: Query, fields: Sequence[str]) -> list[int]:
        return await self._choose(query).sum(query, fields)

    async def write(self, *writes: Write) -> None:
        """Apply all writes to a store or none; what is stored comes first."""
        kept_apart = [write for write in writes if _writes_apart(write)]
        stored = [write for write in writes if not _writes_apart(write)]
        if stored or not kept_apart:
            await self._documents.write(*stored)
        if kept_apart:
            await self._memory.write(*kept_apart)

    async def transaction(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run `work` on the store, or anew in memory where it turns out to be incognito."""

        async def run_guarded(transaction: Transaction) -> T:
            return await work(_GuardedTransaction(transaction))

        try:
            return await self._documents.transaction(run_guarded)
        except _MeetsIncognito:
            return await self._memory.transaction(work)

    async def delete_tree(self, path: str) -> int:
        documents = self._memory if _is_apart(path) else self._documents
        return await documents.delete_tree(path)

    def _choose(self, query: Query) -> Documents:
        sessions = [where.value for where in query.where if where.field in _SESSION_FIELDS]
        is_apart = _is_apart(query.collection) or any(map(is_incognito, sessions))
        return self._memory if is_apart else self._documents


class _GuardedTransaction:
    """A transaction on the store, which ends at the first document of an incognito chat."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    async def get(self, path: str) -> Document | None:
        return (await self.get_many([path]))[0]

    async def get_many(self, paths: Sequence[str]) -> list[Document | None]:
        if any(map(_is_apart, paths)):
            raise _MeetsIncognito
        return await self._transaction.get_many(paths)

    def write(self, *writes: Write) -> None:
        if any(map(_writes_apart, writes)):
            raise _MeetsIncognito
        self._transaction.write(*writes)


def _is_apart(path: str) -> bool:
    """Tell whether a path `users/{uid}/{collection}/{id}/…` is that of an incognito chat."""
    _, _, collection, name, *_ = [*path.split("/"), "", "", "", ""]
    return collection in _COLLECTIONS and is_incognito(name)


def _writes_apart(write: Write) -> bool:
    """Tell whether a write belongs to an incognito chat, also where its id does not say so."""
    session_id = write.fields.get("session_id") if isinstance(write, Create | Set) else None
    return _is_apart(write.path) or (isinstance(session_id, str) and is_incognito(session_id))
