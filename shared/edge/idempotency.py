"""Idempotency-Key: a request that is sent again is answered again, and done once."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Protocol

from pydantic import Field
from starlette.responses import Response

from shared.data.codec import adapter
from shared.data.operations import Operations
from shared.domain.errors import CallerError
from shared.domain.ids import UserId
from shared.domain.operation import Answer, Operation, begin
from shared.edge.http import Call, Wire
from shared.edge.problems import problem
from shared.ports import Clock, NewId

MAX_KEY_CHARS = 255
REPLAYED = "Idempotency-Replayed"


class KeyHeader(Wire):
    """What marks repeats of one request; an empty one marks nothing.

    Its length is checked once its caller is known, by `once`.
    """

    idempotency_key: Annotated[
        str, Field(alias="Idempotency-Key", json_schema_extra={"maxLength": MAX_KEY_CHARS})
    ] = ""


class Repeatable(Protocol):
    """What the Deps of a function have whose requests may be repeated."""

    @property
    def operations(self) -> Operations: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def new_id(self) -> NewId: ...


Work = Callable[[Operation], Awaitable[Response]]


async def once(
    deps: Repeatable, call: Call[Any], *, uid: UserId, caller: str, work: Work
) -> Response:
    """Do `work` for a caller who proved who they are, once for each Idempotency-Key of theirs.

    The same request with the same key gets the stored answer for 24 hours, another request 422, and
    409 while the first is at work. `work` names what it makes after the operation, so that an attempt
    continues what a crashed one began; it raises CallerError only before it changed anything. That
    refusal and any 5xx are not kept. `uid` is the user whom it is about. Without a key it is just done.
    """
    key = call.headers.get("idempotency-key")
    if key and len(key) > MAX_KEY_CHARS:
        return problem(400, f"Idempotency-Key: at most {MAX_KEY_CHARS} characters")
    id_ = _hash(call.line, caller, key or "")
    asked = begin(id_, deps.new_id(), fingerprint=_fingerprint(call), now=deps.clock.now())
    if not key:
        return await work(asked)
    begun = await deps.operations.begin(uid, asked)
    if begun.answer is not None:
        return _response(begun.answer, {REPLAYED: "true"})
    return await _attempt(deps.operations, uid, begun, work)


async def _attempt(operations: Operations, uid: UserId, begun: Operation, work: Work) -> Response:
    try:
        response = await work(begun)
    except CallerError:
        await operations.forget(uid, begun)
        raise
    except Exception:
        await operations.release(uid, begun)
        raise
    if response.status_code >= 500:
        await operations.release(uid, begun)
        return response
    return _response(await operations.answer(uid, begun, _answer(response)))


def _fingerprint(call: Call[Any]) -> str:
    """Hash what was asked for; how its JSON was laid out makes no difference."""
    return _hash(
        *(adapter(type(part)).dump_json(part).decode() for part in (call.body, call.query))
    )


def _hash(*parts: str) -> str:
    return hashlib.sha256("|".join(parts).encode()).hexdigest()


def _answer(response: Response) -> Answer:
    headers = {name: said for name, said in response.headers.items() if name != "content-length"}
    return Answer(status=response.status_code, headers=headers, body=bytes(response.body))


def _response(answer: Answer, more: dict[str, str] | None = None) -> Response:
    return Response(answer.body, answer.status, {**answer.headers, **(more or {})})
