"""Pinecone index on loopback, sparse or dense: documented requests, answers and errors of the data plane."""

import math
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shared.adapters.pinecone_rules import build_filter, check_dense, check_row
from shared.domain.errors import Invalid
from shared.domain.store.vectors import Row, SparseVector
from tests.servers import run_server

API_KEY = "pinecone-test-key"
MAX_REQUEST_BYTES = 2_000_000
ANY_TERM = SparseVector((0,), (1.0,))


@dataclass
class FakePinecone:
    """Namespaces of rows, and the requests: (method, path, body). `status` fails every request.

    A dense index compares vectors of one length only.
    """

    namespaces: dict[str, dict[str, Row]] = field(default_factory=dict)
    requests: list[tuple[str, str, Any]] = field(default_factory=list)
    status: int | None = None
    url: str = ""

    def build_app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/vectors/upsert", self._upsert, methods=["POST"]),
                Route("/vectors/fetch", self._fetch),
                Route("/query", self._query, methods=["POST"]),
                Route("/vectors/delete", self._delete, methods=["POST"]),
                Route("/namespaces/{name}", self._delete_namespace, methods=["DELETE"]),
            ],
            exception_handlers={Invalid: _reject_invalid},
        )

    async def _upsert(self, request: Request) -> Response:
        body = await self._read(request)
        if len(await request.body()) > MAX_REQUEST_BYTES or len(body["vectors"]) > 1_000:
            return _build_refusal(400, "The request is too large")
        rows = [_to_row(vector) for vector in body["vectors"]]
        for row in rows:
            _check(row)
        self.namespaces.setdefault(body["namespace"], {}).update({row.id: row for row in rows})
        return JSONResponse({"upsertedCount": len(rows)})

    async def _fetch(self, request: Request) -> Response:
        await self._read(request)
        params = request.query_params
        rows = self.namespaces.get(params["namespace"], {})
        vectors = {i: _to_vector(rows[i]) for i in params.getlist("ids") if i in rows}
        return JSONResponse({"vectors": vectors, "namespace": params["namespace"]})

    async def _query(self, request: Request) -> Response:
        body = await self._read(request)
        rows = self.namespaces.get(body["namespace"], {}).values()
        is_met = build_filter(body.get("filter", {}))
        scored_rows = [
            (score, row)
            for row in rows
            if is_met(row.metadata) and (score := _score(row, body)) is not None
        ]
        best_rows = sorted(scored_rows, key=lambda s: -s[0])[: body["topK"]]
        values = body.get("includeValues", False)
        results = [_to_match(*scored_row, values=values) for scored_row in best_rows]
        return JSONResponse({"matches": results, "namespace": body["namespace"]})

    async def _delete(self, request: Request) -> Response:
        body = await self._read(request)
        if body["namespace"] not in self.namespaces:
            return _build_refusal(404, "Namespace not found")
        for row_id in body["ids"]:
            self.namespaces[body["namespace"]].pop(row_id, None)
        return JSONResponse({})

    async def _delete_namespace(self, request: Request) -> Response:
        await self._read(request)
        if self.namespaces.pop(request.path_params["name"], None) is None:
            return _build_refusal(404, "Namespace not found")
        return JSONResponse({})

    async def _read(self, request: Request) -> Any:
        assert request.headers["api-key"] == API_KEY
        body = await request.json() if request.method == "POST" else None
        self.requests.append((request.method, request.url.path, body))
        return body


@contextmanager
def fake_pinecone() -> Iterator[FakePinecone]:
    server = FakePinecone()
    app = server.build_app()

    async def serve_or_fail(scope: Any, receive: Any, send: Any) -> None:
        failure_response = server.status and _build_refusal(server.status, "as the test wants it")
        await (failure_response or app)(scope, receive, send)

    with run_server(serve_or_fail) as server.url:
        yield server


def _to_row(vector: dict[str, Any]) -> Row:
    """Store numbers as Pinecone does: weights in 32 bits, metadata in floats."""
    sparse = vector.get("sparseValues", {"indices": [], "values": []})
    metadata = {
        name: float(value) if type(value) is int else value
        for name, value in vector.get("metadata", {}).items()
    }
    return Row(
        id=vector["id"],
        sparse=SparseVector(tuple(sparse["indices"]), tuple(array("f", sparse["values"]))),
        dense=tuple(array("f", vector["values"])) or None,
        metadata=metadata,
    )


def _check(row: Row) -> None:
    """Refuse a row that does not fit the index."""
    check_row(replace(row, sparse=row.sparse if row.dense is None else ANY_TERM))


def _score(row: Row, query: dict[str, Any]) -> float | None:
    if "sparseVector" in query:
        return _compute_dot_product(row.sparse, query["sparseVector"]) or None
    check_dense(query["vector"])
    dense = row.dense or ()
    if len(dense) != len(query["vector"]):
        raise Invalid("Vector dimension does not match the dimension of the index")
    dot = math.fsum(a * b for a, b in zip(dense, query["vector"], strict=True))
    return dot / math.hypot(*dense) / math.hypot(*query["vector"])


def _compute_dot_product(row: SparseVector, query: dict[str, Any]) -> float:
    weights = dict(zip(row.indices, row.values, strict=True))
    query_terms = zip(query["indices"], query["values"], strict=True)
    return float(sum(weights.get(index, 0.0) * value for index, value in query_terms))


def _to_vector(row: Row) -> dict[str, Any]:
    vector_values = {"values": row.dense} if row.dense else {"sparseValues": _to_sparse_values(row)}
    return {"id": row.id, "metadata": row.metadata, **vector_values}


def _to_sparse_values(row: Row) -> dict[str, Any]:
    return {"indices": row.sparse.indices, "values": row.sparse.values}


def _to_match(score: float, row: Row, *, values: bool) -> dict[str, Any]:
    sparse_values = {"sparseValues": _to_sparse_values(row)} if values and row.dense is None else {}
    return {"id": row.id, "score": score, "values": [], "metadata": row.metadata, **sparse_values}


def _build_refusal(status: int, message: str) -> Response:
    return JSONResponse({"code": status, "message": message, "details": []}, status)


async def _reject_invalid(_: Request, error: Exception) -> Response:
    return _build_refusal(400, str(error))
