"""A Pinecone sparse index on loopback: the documented requests, answers and refusals of the data plane."""

from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shared.adapters.pinecone_rules import check_row, matches
from shared.domain.errors import Invalid
from shared.domain.vectors import Row, SparseVector
from tests.servers import running

API_KEY = "pinecone-test-key"


@dataclass
class FakePinecone:
    """Namespaces of rows, and what was asked: (method, path, body). `status` fails every request."""

    namespaces: dict[str, dict[str, Row]] = field(default_factory=dict)
    requests: list[tuple[str, str, Any]] = field(default_factory=list)
    status: int | None = None
    url: str = ""

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/vectors/upsert", self._upsert, methods=["POST"]),
                Route("/query", self._query, methods=["POST"]),
                Route("/vectors/delete", self._delete, methods=["POST"]),
                Route("/namespaces/{name}", self._delete_namespace, methods=["DELETE"]),
            ],
            exception_handlers={Invalid: _bad_request},
        )

    async def _upsert(self, request: Request) -> Response:
        body = await self._read(request)
        rows = [_row(vector) for vector in body["vectors"]]
        for row in rows:
            check_row(row)
        self.namespaces.setdefault(body["namespace"], {}).update({row.id: row for row in rows})
        return JSONResponse({"upsertedCount": len(rows)})

    async def _query(self, request: Request) -> Response:
        body = await self._read(request)
        scored = [
            (_dot(row.sparse, body["sparseVector"]), row)
            for row in self.namespaces.get(body["namespace"], {}).values()
            if matches(body.get("filter", {}), row.metadata)
        ]
        best = sorted((s for s in scored if s[0]), key=lambda s: -s[0])[: body["topK"]]
        return JSONResponse({"matches": [_match(*s) for s in best], "namespace": body["namespace"]})

    async def _delete(self, request: Request) -> Response:
        body = await self._read(request)
        if body["namespace"] not in self.namespaces:
            return _refusal(404, "Namespace not found")
        for row_id in body["ids"]:
            self.namespaces[body["namespace"]].pop(row_id, None)
        return JSONResponse({})

    async def _delete_namespace(self, request: Request) -> Response:
        await self._read(request)
        if self.namespaces.pop(request.path_params["name"], None) is None:
            return _refusal(404, "Namespace not found")
        return JSONResponse({})

    async def _read(self, request: Request) -> Any:
        assert request.headers["api-key"] == API_KEY
        body = await request.json() if request.method == "POST" else None
        self.requests.append((request.method, request.url.path, body))
        return body


@contextmanager
def fake_pinecone() -> Iterator[FakePinecone]:
    server = FakePinecone()
    app = server.app()

    async def refusing(scope: Any, receive: Any, send: Any) -> None:
        failing = server.status and _refusal(server.status, "as the test wants it")
        await (failing or app)(scope, receive, send)

    with running(refusing) as server.url:
        yield server


def _row(vector: dict[str, Any]) -> Row:
    """Keep numbers as Pinecone does: weights in 32 bits, metadata in floats."""
    sparse = vector["sparseValues"]
    metadata = {
        name: float(value) if type(value) is int else value
        for name, value in vector.get("metadata", {}).items()
    }
    weights = tuple(array("f", sparse["values"]))
    return Row(
        id=vector["id"],
        sparse=SparseVector(tuple(sparse["indices"]), weights),
        metadata=metadata,
    )


def _dot(row: SparseVector, query: dict[str, Any]) -> float:
    weights = dict(zip(row.indices, row.values, strict=True))
    asked = zip(query["indices"], query["values"], strict=True)
    return float(sum(weights.get(index, 0.0) * value for index, value in asked))


def _match(score: float, row: Row) -> dict[str, Any]:
    return {"id": row.id, "score": score, "values": [], "metadata": row.metadata}


def _refusal(status: int, message: str) -> Response:
    return JSONResponse({"code": status, "message": message, "details": []}, status)


async def _bad_request(_: Request, error: Exception) -> Response:
    return _refusal(400, str(error))
