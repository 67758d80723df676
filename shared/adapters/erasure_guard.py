"""Erasure guard: refuses tokens from before an erasure, and writes of work that began before it.

Erasures are looked up in a cache, so a process may notice a request late, by the cache's staleness at
most. An erasure waits for longer than that before it says `done`.

Also called: token revocation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from shared.domain.errors import AccountErased, NotAuthenticated
from shared.domain.ids import UserId
from shared.domain.store.documents import Create, Delete, Update, lookup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from shared.domain.account.account import Erasure, TokenCheck, VerifiedToken
    from shared.domain.store.documents import Document, Query, Write
    from shared.domain.store.vectors import Filter, Hit, Row, SparseVector
    from shared.ports import Blobs, Clock, Documents, Events, Identity, Tasks, Transaction, Vectors

T = TypeVar("T")
FindErasure = Callable[[UserId], Awaitable["Erasure | None"]]


class FindSignOut(Protocol):
    """Returns since when the tokens of a user count; `is_fresh` reads it now."""

    def __call__(self, uid: UserId, *, is_fresh: bool) -> Awaitable[datetime | None]: ...


ERASED = "This account was erased"
SIGNED_OUT = "You signed out everywhere. Sign in again."
ACCOUNT_ERASED = "This account was erased. Sign in again to start anew."
_REFRESH_CLAIM = "/claims/refresh"
"""The erasure itself takes these claims: it revokes tokens before it deletes them."""


class GuardedIdentity:
    """Verifies users as `identity` does, and refuses tokens from before an erasure or a sign-out everywhere."""

    def __init__(
        self, identity: Identity, find_erasure: FindErasure, find_sign_out: FindSignOut
    ) -> None:
        self._identity = identity
        self._find_erasure = find_erasure
        self._find_sign_out = find_sign_out

    async def verify(self, token: str, *, check: TokenCheck = "standard") -> VerifiedToken:
        verified_token = await self._identity.verify(token, check=check)
        ended_at = await self._find_sign_out(verified_token.uid, is_fresh=check == "revocation")
        if ended_at is not None and verified_token.issued_at < ended_at:
            raise NotAuthenticated(SIGNED_OUT)
        if check == "erasure_status":
            return verified_token
        erasure = await self._find_erasure(verified_token.uid)
        if erasure is None or not erasure.refuses(verified_token.issued_at):
            return verified_token
        if erasure.status == "running" and check == "erasure_request":
            return verified_token
        raise NotAuthenticated(ACCOUNT_ERASED)


class ErasureFence:
    """Tells whether the work at hand began before the erasure of a user, or during it.

    `find_erasure` looks into a cache, `read_erasure` into the store. `measure_elapsed_s` says how long ago the
    work began, in seconds.
    """

    def __init__(
        self,
        find_erasure: FindErasure,
        read_erasure: FindErasure,
        clock: Clock,
        measure_elapsed_s: Callable[[], float],
    ) -> None:
        self._find_erasure = find_erasure
        self._read_erasure = read_erasure
        self._clock = clock
        self._measure_elapsed_s = measure_elapsed_s

    async def is_shut(self, uid: str) -> bool:
        return self._is_refused(await self._find_erasure(UserId(uid)))

    def _is_refused(self, erasure: Erasure | None) -> bool:
        began_at = self._clock.now() - timedelta(seconds=self._measure_elapsed_s())
        return erasure is not None and erasure.refuses(began_at)

    async def check(self, uid: str) -> None:
        """Raises AccountErased."""
        if await self.is_shut(uid):
            raise AccountErased(ERASED)

    async def check_writes(self, writes: Sequence[Write]) -> None:
        """Let deletions pass. Raises AccountErased."""
        for uid in _list_owners(writes):
            await self.check(uid)

    async def check_transaction(self, writes: Sequence[Write]) -> None:
        """Do as check_writes(), by the store where documents of others, such as a review, are written too.

        The owner's documents alone lead an erasure there, and are gone when it looks again.
        """
        await self.check_writes(writes)
        if all(write.path.startswith("users/") for write in writes):
            return
        for uid in _list_owners(writes):
            if self._is_refused(await self._read_erasure(UserId(uid))):
                raise AccountErased(ERASED)


class FencedDocuments:
    """Documents that work from before an erasure cannot write."""

    def __init__(self, documents: Documents, fence: ErasureFence) -> None:
        self._documents = documents
        self._fence = fence

    async def get(self, path: str) -> Document | None:
        return await self._documents.get(path)

    async def get_many(
        self, paths: Sequence[str], *, known: Mapping[str, str] | None = None
    ) -> list[Document | None]:
        return await self._documents.get_many(paths, known=known)

    async def query(self, query: Query) -> list[Document]:
        return await self._documents.query(query)

    async def count(self, query: Query) -> int:
        return await self._documents.count(query)

    async def sum(self, query: Query, fields: Sequence[str]) -> list[int]:
        return await self._documents.sum(query, fields)

    async def write(self, *writes: Write) -> None:
        await self._fence.check_writes(writes)
        await self._documents.write(*writes)

    async def transaction(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        async def run_fenced(transaction: Transaction) -> T:
            recorder = _WriteRecorder(transaction)
            result = await work(recorder)
            await self._fence.check_transaction(recorder.writes)
            return result

        return await self._documents.transaction(run_fenced)

    async def delete_tree(self, path: str) -> int:
        return await self._documents.delete_tree(path)


class _WriteRecorder:
    """A transaction that remembers what is written."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self.writes: list[Write] = []

    async def get(self, path: str) -> Document | None:
        return await self._transaction.get(path)

    async def get_many(self, paths: Sequence[str]) -> list[Document | None]:
        return await self._transaction.get_many(paths)

    def write(self, *writes: Write) -> None:
        self.writes += writes
        self._transaction.write(*writes)


class FencedVectors:
    """Vectors that work from before an erasure cannot write."""

    def __init__(self, vectors: Vectors, fence: ErasureFence) -> None:
        self._vectors = vectors
        self._fence = fence

    async def upsert(self, namespace: str, rows: Sequence[Row]) -> None:
        await self._fence.check(namespace)
        await self._vectors.upsert(namespace, rows)

    async def fetch(self, namespace: str, ids: Sequence[str]) -> dict[str, Row]:
        return await self._vectors.fetch(namespace, ids)

    async def query_sparse(
        self, namespace: str, query: SparseVector, *, limit: int, where: Filter | None = None
    ) -> list[Hit]:
        return await self._vectors.query_sparse(namespace, query, limit=limit, where=where)

    async def query_dense(
        self, namespace: str, vector: Sequence[float], *, limit: int, where: Filter | None = None
    ) -> list[Hit]:
        return await self._vectors.query_dense(namespace, vector, limit=limit, where=where)

    async def delete(self, namespace: str, ids: Sequence[str]) -> None:
        await self._vectors.delete(namespace, ids)

    async def delete_namespace(self, namespace: str) -> None:
        await self._vectors.delete_namespace(namespace)


class FencedBlobs:
    """Blobs that work from before an erasure cannot write."""

    def __init__(self, blobs: Blobs, fence: ErasureFence) -> None:
        self._blobs = blobs
        self._fence = fence

    async def write(self, path: str, content: bytes, *, media_type: str) -> None:
        await self._fence.check(path.split("/", 2)[1] if path.startswith("users/") else "")
        await self._blobs.write(path, content, media_type=media_type)

    async def read(self, path: str) -> bytes:
        return await self._blobs.read(path)

    async def delete(self, paths: Sequence[str]) -> None:
        await self._blobs.delete(paths)

    async def delete_tree(self, prefix: str) -> None:
        await self._blobs.delete_tree(prefix)


class FencedEvents:
    """Events that work from before an erasure publishes are dropped."""

    def __init__(self, events: Events, fence: ErasureFence) -> None:
        self._events = events
        self._fence = fence

    async def publish(self, topic: str, event: Mapping[str, Any]) -> None:
        if not await _concerns_erased_user(self._fence, event):
            await self._events.publish(topic, event)


class FencedTasks:
    """Tasks that work from before an erasure creates are dropped."""

    def __init__(self, tasks: Tasks, fence: ErasureFence) -> None:
        self._tasks = tasks
        self._fence = fence

    async def create(
        self, target: str, name: str, body: Mapping[str, Any], *, at: datetime | None = None
    ) -> None:
        if not await _concerns_erased_user(self._fence, body):
            await self._tasks.create(target, name, body, at=at)


async def _concerns_erased_user(fence: ErasureFence, body: Mapping[str, Any]) -> bool:
    uid = body.get("uid")
    return isinstance(uid, str) and await fence.is_shut(uid)


def _list_owners(writes: Sequence[Write]) -> set[str]:
    return {uid for write in writes if (uid := _find_owner(write))}


def _find_owner(write: Write) -> str | None:
    """Return whose document is written, or whom it names; None for a deletion, and for changes to an app.

    Others' calls change an app, and go on without its owner.
    """
    if isinstance(write, Delete) or write.path.endswith(_REFRESH_CLAIM):
        return None
    collection, _, rest = write.path.partition("/")
    if collection == "users":
        return rest.partition("/")[0]
    fields = {} if isinstance(write, Update) else write.fields
    names = ("owner", "uid", "ids.uid") if isinstance(write, Create) else ("uid", "ids.uid")
    return next(filter(None, (lookup(fields, name) for name in names)), None)
