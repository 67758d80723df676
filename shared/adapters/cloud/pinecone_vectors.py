"""Vectors on two Pinecone indexes, sparse (dot product) and dense (cosine); a namespace is a user.

Also called: vector store, vector database.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from shared.adapters.pinecone_rules import check_dense, check_row
from shared.domain.errors import Invalid, Unavailable
from shared.domain.store.sizes import split_by_size
from shared.domain.store.vectors import Filter, Hit, Row, SparseVector

if TYPE_CHECKING:
    from pinecone import AsyncIndex

ATTEMPT_TIMEOUT_S = 5.0
TOTAL_TIMEOUT_S = 15.0
"""The client retries by its own backoff within this time."""
MAX_UPSERT_ROWS = 1_000
MAX_UPSERT_BYTES = 1_900_000
"""A request has at most 2 MB; the rest is for the envelope of the rows."""
MAX_DELETE_IDS = 1_000
MAX_FETCH_IDS = 50
"""Ids of one request: they are part of the URL."""


class PineconeVectors:
    """Connects on first use; hosts as the console shows them, or http://127.0.0.1:port.

    Without `dense_host` there are no dense values: a row or a query that has some raises Invalid.
    """

    def __init__(self, *, api_key: str, sparse_host: str, dense_host: str | None = None) -> None:
        self._api_key = api_key
        self._sparse_host = sparse_host
        self._dense_host = dense_host

    async def upsert(self, namespace: str, rows: Sequence[Row]) -> None:
        """Check all rows before the first request, and write the sparse index last.

        So a row that is found by words already has its dense values.
        """
        for row in rows:
            check_row(row)
        dense = [row for row in rows if row.dense is not None]
        if dense:
            await _upsert(self._dense, namespace, list(map(_encode_dense, dense)))
        if self._dense_host:
            await _delete(self._dense, namespace, [row.id for row in rows if row.dense is None])
        await _upsert(self._sparse, namespace, list(map(_encode_sparse, rows)))

    async def fetch(self, namespace: str, ids: Sequence[str]) -> dict[str, Row]:
        sparse = await _fetch(self._sparse, namespace, ids)
        dense = await _fetch(self._dense, namespace, ids) if self._dense_host else {}
        return {row_id: _to_row(vector, dense.get(row_id)) for row_id, vector in sparse.items()}

    async def query_sparse(
        self, namespace: str, query: SparseVector, *, limit: int, where: Filter | None = None
    ) -> list[Hit]:
        if not query.indices:
            return []
        arguments = {"sparse_vector": _encode_terms(query), "include_values": True}
        matches = await _query(self._sparse, namespace, arguments, limit=limit, where=where)
        return [
            _to_hit(m, _read_term_weights(query, m.sparse_values)) for m in matches if m.score > 0
        ]

    async def query_dense(
        self,
        namespace: str,
        vector: Sequence[float],
        *,
        limit: int,
        where: Filter | None = None,
    ) -> list[Hit]:
        check_dense(vector)
        arguments = {"vector": list(vector)}
        matches = await _query(self._dense, namespace, arguments, limit=limit, where=where)
        return [_to_hit(match, ()) for match in matches]

    async def delete(self, namespace: str, ids: Sequence[str]) -> None:
        for index in self._list_indexes():
            await _delete(index, namespace, ids)

    async def delete_namespace(self, namespace: str) -> None:
        for index in self._list_indexes():
            async with _translate_errors(), _ignore_missing_namespace():
                await index.delete_namespace(name=namespace)

    async def aclose(self) -> None:
        for index in self._list_indexes():
            await index.close()

    def _list_indexes(self) -> "list[AsyncIndex]":
        return [self._sparse, self._dense] if self._dense_host else [self._sparse]

    @cached_property
    def _sparse(self) -> "AsyncIndex":
        return self._open(self._sparse_host)

    @cached_property
    def _dense(self) -> "AsyncIndex":
        if not self._dense_host:
            raise Invalid("There is no dense index")
        return self._open(self._dense_host)

    def _open(self, host: str) -> "AsyncIndex":
        from pinecone import AsyncIndex

        return AsyncIndex(host=host, api_key=self._api_key, timeout=ATTEMPT_TIMEOUT_S)


async def _upsert(
    index: "AsyncIndex", namespace: str, vectors: Sequence[Mapping[str, Any]]
) -> None:
    for rows in _split_by_count(vectors, MAX_UPSERT_ROWS):
        for batch in split_by_size(rows, _count_bytes, MAX_UPSERT_BYTES):
            async with _translate_errors():
                await index.upsert(vectors=batch, namespace=namespace)


async def _fetch(index: "AsyncIndex", namespace: str, ids: Sequence[str]) -> dict[str, Any]:
    vectors: dict[str, Any] = {}
    for batch in _split_by_count(ids, MAX_FETCH_IDS):
        async with _translate_errors(), _ignore_missing_namespace():
            vectors |= (await index.fetch(ids=batch, namespace=namespace)).vectors
    return vectors


async def _query(
    index: "AsyncIndex",
    namespace: str,
    arguments: Mapping[str, Any],
    *,
    limit: int,
    where: Filter | None,
) -> list[Any]:
    async with _translate_errors():
        response = await index.query(
            top_k=limit,
            namespace=namespace,
            filter=where or None,
            include_metadata=True,
            **arguments,
        )
    return list(response.matches)


def _to_hit(match: Any, term_weights: tuple[float, ...]) -> Hit:
    return Hit(
        id=match.id,
        score=match.score,
        metadata=_decode_metadata(match.metadata),
        term_weights=term_weights,
    )


def _read_term_weights(query: SparseVector, row: Any) -> tuple[float, ...]:
    weights = dict(zip(row.indices, row.values, strict=True))
    return tuple(weights.get(term, 0.0) for term in query.indices)


async def _delete(index: "AsyncIndex", namespace: str, ids: Sequence[str]) -> None:
    for batch in _split_by_count(ids, MAX_DELETE_IDS):
        async with _translate_errors(), _ignore_missing_namespace():
            await index.delete(ids=batch, namespace=namespace)


@asynccontextmanager
async def _translate_errors() -> AsyncIterator[None]:
    """Translate errors.

    What may pass is Unavailable, a refusal is Invalid, a wrong key is our bug.
    """
    from pinecone import errors

    try:
        async with asyncio.timeout(TOTAL_TIMEOUT_S):
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
async def _ignore_missing_namespace() -> AsyncIterator[None]:
    """Treat a missing namespace as an empty one."""
    from pinecone import errors

    try:
        yield
    except errors.NotFoundError:
        return


def _split_by_count(items: Sequence[Any], size: int) -> Iterator[list[Any]]:
    return (list(items[start : start + size]) for start in range(0, len(items), size))


def _count_bytes(vector: Mapping[str, Any]) -> int:
    return len(json.dumps(vector))


def _encode_sparse(row: Row) -> dict[str, Any]:
    return {
        "id": row.id,
        "sparse_values": _encode_terms(row.sparse),
        "metadata": dict(row.metadata),
    }


def _encode_dense(row: Row) -> dict[str, Any]:
    return {"id": row.id, "values": list(row.dense or ()), "metadata": dict(row.metadata)}


def _encode_terms(vector: SparseVector) -> dict[str, Any]:
    return {"indices": list(vector.indices), "values": list(vector.values)}


def _to_row(sparse: Any, dense: Any) -> Row:
    terms = sparse.sparse_values
    return Row(
        id=sparse.id,
        sparse=SparseVector(tuple(terms.indices), tuple(terms.values)),
        dense=tuple(dense.values) if dense else None,
        metadata=_decode_metadata(sparse.metadata),
    )


def _decode_metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Restore whole numbers, which Pinecone stores as floats."""
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in (metadata or {}).items()
    }
