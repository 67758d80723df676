"""The route table, and how a request travels through it: who, what, answer or problem."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any, Generic, Literal, Protocol, TypeVar, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.datastructures import Headers, QueryParams
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shared import telemetry
from shared.data.codec import type_adapter
from shared.domain.errors import KeepsakeError, NotAuthenticated
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.edge.cancel_on_disconnect import cancel_on_disconnect
from shared.edge.problems import build_problem, to_problem
from shared.edge.tracing import TracingMiddleware
from shared.ports import Identity, ServiceIdentity

Body = TypeVar("Body")
DEFAULT_MAX_BYTES = 1_048_576
EXPOSED_HEADERS = (
    "X-Run-Id",
    "X-Request-Id",
    "X-Next-Cursor",
    "X-Notification-Id",
    "Retry-After",
    "RateLimit",
    "RateLimit-Policy",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
)
Access = Literal["user", "service", "anyone"]


class Wire(BaseModel):
    """The base of every request and response body: unknown fields are ignored, NaN refused.

    A model is built when it is first used: a cold start pays for the route it serves, not for all.
    """

    model_config = ConfigDict(
        frozen=True, allow_inf_nan=False, defer_build=True, hide_input_in_errors=True
    )


class AuthDeps(Protocol):
    """What every function's Deps has: how to tell who calls."""

    @property
    def identity(self) -> Identity: ...

    @property
    def service_identity(self) -> ServiceIdentity: ...


@value
class Call(Generic[Body]):
    """A verified request. `uid` is empty unless the endpoint's access is `user`.

    `line` is its method and path, as `POST /v1/inbox/n1/read`.
    """

    request_line: str
    uid: UserId
    body: Body
    path: Mapping[str, str]
    query: Any
    headers: Headers


@value
class Endpoint:
    """One row of the route table; docs/openapi.json and fuzzing read it too.

    `handler(deps, call)` returns a value of `response`, or a Response as it stands; `also` are its
    other good statuses. `body=bytes` takes what was sent as it stands, whatever its content type:
    envelopes of events. `headers` are those that the handler reads, by alias.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    handler: Callable[[Any, Call[Any]], Awaitable[Any]]
    summary: str
    access: Access = "user"
    body: type[Any] | None = None
    query: type[Wire] | None = None
    headers: type[Wire] | None = None
    response: Any = None
    status: int = 200
    other_statuses: Sequence[int] = field(default=())
    media_type: str = "application/json"
    max_bytes: int = DEFAULT_MAX_BYTES
    cancels_on_disconnect: bool = False
    errors: Sequence[int] = field(default=())


class _RequestRejected(Exception):
    def __init__(self, response: Response) -> None:
        self.response = response


def build_application(
    function: str,
    endpoints: Sequence[Endpoint],
    deps: AuthDeps,
    *,
    cors_origins: Sequence[str] = (),
) -> Starlette:
    """Build a function's application from its part of the route table.

    Pages of `cors_origins` may call it from a browser.
    """

    async def healthz(_: Request) -> Response:
        return JSONResponse({"status": "ok", "function": function})

    routes = [Route("/healthz", healthz)]
    routes += [
        Route(row.path, _build_handler(function, row, deps), methods=[row.method])
        for row in endpoints
    ]
    return Starlette(
        routes=routes,
        exception_handlers={HTTPException: handle_http_exception},
        middleware=[
            Middleware(TracingMiddleware, function=function),
            *_build_cors_middleware(cors_origins),
        ],
    )


def _build_cors_middleware(origins: Sequence[str]) -> list[Middleware]:
    if not origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=EXPOSED_HEADERS,
        )
    ]


async def handle_http_exception(_: Request, error: Exception) -> Response:
    """Answer what the router refuses, an unknown path or method, as a problem."""
    assert isinstance(error, HTTPException)
    return build_problem(error.status_code, error.detail, headers=error.headers)


def _build_handler(
    function: str, row: Endpoint, deps: AuthDeps
) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        telemetry.add_fields(route=f"{row.method} {row.path}")
        try:
            return await _dispatch(function, row, deps, request)
        except _RequestRejected as rejection:
            return rejection.response
        except KeepsakeError as error:
            telemetry.add_fields(error=type(error).__name__)
            return to_problem(error)
        except Exception:  # noqa: BLE001 - the last one who can still answer in our words
            telemetry.error("unhandled")
            return build_problem(500, "Internal Server Error")

    return handle


async def _dispatch(function: str, row: Endpoint, deps: AuthDeps, request: Request) -> Response:
    uid = await _authenticate(function, row.access, deps, request)
    _check_headers(row, request)
    query = _parse_query(row, request)
    raw = await _read_body(request, row.max_bytes) if row.body is not None else b""
    call = Call(
        request_line=f"{request.method} {request.url.path}",
        uid=uid,
        body=_parse_body(row, request, raw),
        path=request.path_params,
        query=query,
        headers=request.headers,
    )
    work = partial(row.handler, deps, call)
    result = await (cancel_on_disconnect(request, work) if row.cancels_on_disconnect else work())
    if isinstance(result, Response):
        return result
    content = type_adapter(row.response).dump_json(result) if row.response is not None else b""
    return Response(content, status_code=row.status, media_type=row.media_type)


async def _authenticate(function: str, access: Access, deps: AuthDeps, request: Request) -> UserId:
    """Verify who calls. A service token is for one function: its audience is the name."""
    if access == "anyone":
        return UserId("")
    token = parse_bearer_token(request.headers)
    if access == "service":
        await deps.service_identity.verify(token, function)
        return UserId("")
    uid = await deps.identity.verify(token)
    telemetry.add_fields(uid=telemetry.hash_id(uid))
    return uid


def parse_bearer_token(headers: Headers) -> str:
    """Return the bearer token. Raises NotAuthenticated with the texts the app knows."""
    header = headers.get("authorization")
    if not header:
        raise NotAuthenticated("Authorization header not found")
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token or " " in token:
        raise NotAuthenticated("Invalid authorization token")
    return token


async def _read_body(request: Request, max_bytes: int) -> bytes:
    """Read a body no further than its limit."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > max_bytes:
                raise _RequestRejected(
                    build_problem(413, f"The request body is over {max_bytes} bytes.")
                )
    except ClientDisconnect as disconnect:
        raise _RequestRejected(build_problem(400, "The request body ended early.")) from disconnect
    return bytes(body)


def _parse_body(row: Endpoint, request: Request, raw: bytes) -> Any:
    if row.body is None:
        return None
    if row.body is bytes:
        return raw
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise _RequestRejected(build_problem(415, "Send the body as application/json."))
    try:
        return type_adapter(row.body).validate_json(raw)
    except ValidationError as error:
        raise _RequestRejected(_build_validation_problem(error)) from error


def _check_headers(row: Endpoint, request: Request) -> None:
    if row.headers is None:
        return
    names = [field.alias for field in row.headers.model_fields.values() if field.alias]
    header_values = {name: request.headers[name] for name in names if name in request.headers}
    try:
        row.headers.model_validate(header_values)
    except ValidationError as error:
        raise _RequestRejected(_build_validation_problem(error, 400)) from error


def _parse_query(row: Endpoint, request: Request) -> Any:
    if row.query is None:
        return None
    try:
        return row.query.model_validate(_read_query(row.query, request.query_params))
    except ValidationError as error:
        raise _RequestRejected(_build_validation_problem(error)) from error


def _read_query(model: type[Wire], params: QueryParams) -> dict[str, Any]:
    """Read a parameter that may stand several times as a list, and the last of any other."""
    kinds = {name: get_origin(field.annotation) for name, field in model.model_fields.items()}
    lists = [name for name, kind in kinds.items() if kind in (list, tuple)]
    return {**params, **{name: params.getlist(name) for name in lists if name in params}}


def _build_validation_problem(error: ValidationError, status: int = 422) -> Response:
    """Say what is wrong and where, without repeating what was sent."""
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    if errors[0]["type"] == "json_invalid":
        return build_problem(400, f"The body is not valid JSON: {errors[0]['msg']}")
    details = [{"loc": ".".join(map(str, e["loc"])), "msg": e["msg"]} for e in errors[:20]]
    first = f"{details[0]['loc']}: {details[0]['msg']}" if details[0]["loc"] else details[0]["msg"]
    return build_problem(413 if errors[0]["type"] == "too_long" else status, first, errors=details)
