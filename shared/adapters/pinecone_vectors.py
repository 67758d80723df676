"""Vectors in a Pinecone sparse index (metric dot product); a namespace is a user."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from shared.domain.errors import Invalid, Unavailable
from shared.domain.vectors import Filter, Hit, Row, SparseVector

if TYPE_CHECKING:
    from pinecone import AsyncIndex

ATTEMPT_S = 5.0
TOTAL_S = 15.0
"""The client repeats what may be repeated, by its own backoff, within this time."""
UPSERT_ROWS = 50
"""50 rows of 1,000 terms stay below the 2 MB that a request may have."""
DELETE_IDS = 1_000


class PineconeVectors:
    """Connects on first use; `sparse_host` as the console shows it, or http://127.0.0.1:port."""

    def __init__(self, *, api_key: str, sparse_host: str) -> None:
        self._api_key = api_key
        self._sparse_host = sparse_host

    async def upsert(self, namespace: str, rows: Sequence[Row]) -> None:
        for batch in _batches(rows, UPSERT_ROWS):
            async with _translated():
                vectors = [_encode(row) for row in batch]
                await self._index.upsert(vectors=vectors, namespace=namespace)

    async def query_sparse(
        self, namespace: str, query: SparseVector, *, limit: int, where: Filter | None = None
    ) -> list[Hit]:
        if not query.indices:
            return []
        async with _translated():
            found = await self._index.query(
                top_k=limit,
                namespace=namespace,
                sparse_vector=_sparse(query),
                filter=where or None,
                include_metadata=True,
            )
        return [
            Hit(id=match.id, score=match.score, metadata=_decode(match.metadata or {}))
            for match in found.matches
            if match.score > 0
        ]

    async def delete(self, namespace: str, ids: Sequence[str]) -> None:
        for batch in _batches(ids, DELETE_IDS):
            async with _translated(), _nothing_there():
                await self._index.delete(ids=batch, namespace=namespace)

    async def delete_namespace(self, namespace: str) -> None:
        async with _translated(), _nothing_there():
            await self._index.delete_namespace(name=namespace)

    async def close(self) -> None:
        await self._index.close()

    @cached_property
    def _index(self) -> "AsyncIndex":
        from pinecone import AsyncIndex

        return AsyncIndex(host=self._sparse_host, api_key=self._api_key, timeout=ATTEMPT_S)


@asynccontextmanager
async def _translated() -> AsyncIterator[None]:
    """Tell what time may heal from what Pinecone will refuse again; a wrong key is our bug."""
    from pinecone import errors

    try:
        async with asyncio.timeout(TOTAL_S):
            yield
    except (
        TimeoutError,
        errors.PineconeConnectionError,
        errors.RateLimitError,
        errors.ServiceError,
    ) as error:
        raise Unavailable("The vector index does not answer") from error
    except (
        errors.PineconeValueError,
        errors.PineconeTypeError,
        errors.PayloadTooLargeError,
    ) as error:
        raise Invalid("The vector index refuses the request") from error
    except errors.ApiError as error:
        if error.status_code == 400:
            raise Invalid("The vector index refuses the request") from error
        raise


@asynccontextmanager
async def _nothing_there() -> AsyncIterator[None]:
    """Take a namespace that does not exist for one that is empty."""
    from pinecone import errors

    try:
        yield
    except errors.NotFoundError:
        return


def _batches(items: Sequence[Any], size: int) -> Iterator[list[Any]]:
    return (list(items[start : start + size]) for start in range(0, len(items), size))


def _encode(row: Row) -> dict[str, Any]:
    return {
        "id": row.id,
        "sparse_values": _sparse(row.sparse),
        "metadata": dict(row.metadata),
    }


def _sparse(vector: SparseVector) -> dict[str, Any]:
    return {"indices": list(vector.indices), "values": list(vector.values)}


def _decode(metadata: dict[str, Any]) -> dict[str, Any]:
    """Pinecone keeps every number as a float; whole ones were whole."""
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in metadata.items()
    }
