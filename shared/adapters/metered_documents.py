"""Documents with a meter: reads and writes, counted into the request's log line as Firestore bills.

Also called: billed reads, database metrics.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from shared import telemetry
from shared.domain.store.documents import Document, Query, Write

if TYPE_CHECKING:
    from shared.ports import Documents, Transaction

T = TypeVar("T")

INDEX_ENTRIES_PER_READ = 1_000
"""Index entries for which an aggregation is billed as one read."""


class MeteredDocuments:
    """Counts any Documents: a document read or missing is one read, a query at least one."""

    def __init__(self, documents: "Documents") -> None:
        self._documents = documents

    async def get(self, path: str) -> Document | None:
        telemetry.count(reads=1)
        return await self._documents.get(path)

    async def get_many(
        self, paths: Sequence[str], *, known: Mapping[str, str] | None = None
    ) -> list[Document | None]:
        telemetry.count(reads=len(paths))
        return await self._documents.get_many(paths, known=known)

    async def query(self, query: Query) -> list[Document]:
        documents = await self._documents.query(query)
        telemetry.count(reads=max(1, len(documents)))
        return documents

    async def count(self, query: Query) -> int:
        total = await self._documents.count(query)
        telemetry.count(reads=max(1, -(-total // INDEX_ENTRIES_PER_READ)))
        return total

    async def sum(self, query: Query, fields: Sequence[str]) -> list[int]:
        """Counts one read: nobody is told how many index entries were read."""
        telemetry.count(reads=1)
        return await self._documents.sum(query, fields)

    async def write(self, *writes: Write) -> None:
        await self._documents.write(*writes)
        telemetry.count(writes=len(writes))

    async def transaction(self, work: "Callable[[Transaction], Awaitable[T]]") -> T:
        """Reads count on every attempt, writes on the one that commits."""
        attempts: list[_MeteredTransaction] = []

        async def run_metered(transaction: "Transaction") -> T:
            attempts.append(_MeteredTransaction(transaction))
            return await work(attempts[-1])

        result = await self._documents.transaction(run_metered)
        telemetry.count(writes=attempts[-1].writes)
        return result

    async def delete_tree(self, path: str) -> int:
        deleted = await self._documents.delete_tree(path)
        telemetry.count(reads=max(1, deleted), writes=deleted)
        return deleted


class _MeteredTransaction:
    def __init__(self, transaction: "Transaction") -> None:
        self._transaction = transaction
        self.writes = 0

    async def get(self, path: str) -> Document | None:
        telemetry.count(reads=1)
        return await self._transaction.get(path)

    async def get_many(self, paths: Sequence[str]) -> list[Document | None]:
        telemetry.count(reads=len(paths))
        return await self._transaction.get_many(paths)

    def write(self, *writes: Write) -> None:
        self.writes += len(writes)
        self._transaction.write(*writes)
