"""Idempotency-Key: a request that is sent again is answered again, and done once."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Protocol

from pydantic import Field
from starlette.responses import Response

from shared.data.codec import type_adapter
from shared.data.operations import Operations
from shared.data.stores import Stores
from shared.domain.errors import CallerError
from shared.domain.ids import UserId
from shared.domain.operation import Operation, StoredResponse, build_operation
from shared.edge.problems import build_problem
from shared.edge.routes import Call
from shared.edge.schemas import Wire
from shared.ports import Clock, NewId

MAX_KEY_CHARS = 255
REPLAYED_HEADER = "Idempotency-Replayed"


class IdempotencyKeyHeader(Wire):
    """What marks repeats of one request; an empty one marks nothing.

    Its length is checked once its caller is known, by `once`.
    """

    idempotency_key: Annotated[
        str, Field(alias="Idempotency-Key", json_schema_extra={"maxLength": MAX_KEY_CHARS})
    ] = ""


class IdempotencyDeps(Protocol):
    """What the Deps of a function have whose requests may be repeated."""

    @property
    def stores(self) -> Stores: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def new_id(self) -> NewId: ...


Work = Callable[[Operation], Awaitable[Response]]


async def run_idempotent(
    deps: IdempotencyDeps, call: Call[Any, Any], *, uid: UserId, caller: str, work: Work
) -> Response:
    """Do `work` for a caller who proved who they are, once for each Idempotency-Key of theirs.

    The same request with the same key gets the stored answer for 24 hours, another request 422, and
    409 while the first is at work. `work` names what it makes after the operation, so that an attempt
    continues what a crashed one began; it raises CallerError only before it changed anything. That
    refusal and any 5xx are not kept. `uid` is the user whom it is about. Without a key it is just done.
    """
    key = call.headers.get("idempotency-key")
    if key and len(key) > MAX_KEY_CHARS:
        return build_problem(400, f"Idempotency-Key: at most {MAX_KEY_CHARS} characters")
    id_ = _hash(call.request_line, caller, key or "")
    new_operation = build_operation(
        id_, deps.new_id(), fingerprint=_compute_fingerprint(call), now=deps.clock.now()
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
    if response.status_code >= 500:
        await operations.release(uid, operation)
        return response
    return _to_response(
        await operations.store_response(uid, operation, _to_stored_response(response))
    )


def _compute_fingerprint(call: Call[Any, Any]) -> str:
    """Hash what was asked for; how its JSON was laid out makes no difference."""
    return _hash(
        *(type_adapter(type(part)).dump_json(part).decode() for part in (call.body, call.query))
    )


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
