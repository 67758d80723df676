"""Idempotency of requests: a request repeated with its Idempotency-Key is done once.

Every repeat within 24 hours gets the answer of the first.

Also called: repeated requests.
"""

import hashlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import Field
from starlette.responses import Response

from shared.data.store.codec import type_adapter
from shared.data.store.operations import Operations
from shared.data.stores import Stores
from shared.domain.errors import CallerError
from shared.domain.ids import UserId
from shared.domain.store.operation import Operation, StoredResponse, build_operation
from shared.edge.declare.problems import build_problem
from shared.edge.declare.routes import Call
from shared.edge.declare.schemas import Wire

if TYPE_CHECKING:
    from shared.ports import Clock, NewId

MAX_KEY_CHARS = 255
REPLAYED_HEADER = "Idempotency-Replayed"
_CONTENT_HEADERS = ("upload-length", "upload-metadata")


class IdempotencyKeyHeader(Wire):
    """The key that repeats of one request share; an empty one counts as none.

    `run_idempotent` checks its length, once the caller is known.
    """

    idempotency_key: Annotated[
        str, Field(alias="Idempotency-Key", json_schema_extra={"maxLength": MAX_KEY_CHARS})
    ] = ""


class IdempotencyDeps(Protocol):
    """The part of a Deps that idempotency needs."""

    @property
    def stores(self) -> Stores: ...

    @property
    def clock(self) -> "Clock": ...

    @property
    def new_id(self) -> "NewId": ...


Work = Callable[[Operation], Awaitable[Response]]


async def run_idempotent(
    deps: IdempotencyDeps, call: Call[Any, Any, Any], *, uid: UserId, caller: str, work: Work
) -> Response:
    """Do `work` once per Idempotency-Key of an authenticated caller; without a key, do it.

    A repeat gets the stored answer for 24 hours. While the first is at work it gets 409; a different
    request under the same key gets 422. `work` derives the ids of what it creates from the operation,
    so that an attempt continues what a crashed one began. It raises CallerError only before it
    changed anything: neither that refusal, nor a 429 or 5xx, is stored. `uid` is the user concerned.
    """
    key = call.headers.get("idempotency-key") or ""
    if len(key) > MAX_KEY_CHARS:
        return build_problem(400, f"Idempotency-Key: at most {MAX_KEY_CHARS} characters")
    new_operation = build_operation(
        _hash(call.request_line, caller, key),
        deps.new_id(),
        fingerprint=_compute_fingerprint(call) if key else "",
        now=deps.clock.now(),
    )
    if not key:
        return await work(new_operation)
    operation = await deps.stores.operations.begin(uid, new_operation)
    if operation.answer is not None:
        return _to_response(operation.answer, {REPLAYED_HEADER: "true"})
    return await _run_attempt(deps.stores.operations, uid, operation, work)


async def _run_attempt(
    operations: Operations, uid: UserId, operation: Operation, work: Work
) -> Response:
    try:
        response = await work(operation)
    except CallerError:
        await operations.delete(uid, operation)
        raise
    except Exception:
        await operations.release(uid, operation)
        raise
    if response.status_code == 429:
        await operations.delete(uid, operation)
        return response
    if response.status_code >= 500:
        await operations.release(uid, operation)
        return response
    return _to_response(
        await operations.store_response(uid, operation, _to_stored_response(response))
    )


def _compute_fingerprint(call: Call[Any, Any, Any]) -> str:
    """Hash body and query as they were parsed, so that the layout of the JSON makes no difference, and files.

    What tus says in headers alone, the length and the name of a file, counts too.
    """
    parsed = (type_adapter(type(part)).dump_json(part).decode() for part in (call.body, call.query))
    files = (f"{file.name}:{hashlib.sha256(file.content).hexdigest()}" for file in call.files)
    announced = (text for name, text in sorted(call.headers.items()) if name in _CONTENT_HEADERS)
    return _hash(*parsed, *files, *announced)


def _hash(*parts: str) -> str:
    return hashlib.sha256("|".join(parts).encode()).hexdigest()


def _to_stored_response(response: Response) -> StoredResponse:
    headers = {name: text for name, text in response.headers.items() if name != "content-length"}
    return StoredResponse(status=response.status_code, headers=headers, body=bytes(response.body))


def _to_response(
    stored_response: StoredResponse, extra_headers: dict[str, str] | None = None
) -> Response:
    return Response(
        stored_response.body,
        stored_response.status,
        {**stored_response.headers, **(extra_headers or {})},
    )
