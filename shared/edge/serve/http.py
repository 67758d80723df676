"""HTTP applications of functions: a request meets its route, and gets an answer or a problem.

Every failure is answered as problem+json: errors of ours by their status, anything else as 500.

Beside its routes stand a health check (liveness probe), CORS, middleware and an exception handler.
"""

import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import fields
from functools import cached_property, partial
from typing import Any, TypeVar

from anyio import to_thread
from starlette import routing
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from shared import telemetry
from shared.data.store.codec import type_adapter
from shared.domain.errors import KeepsakeError
from shared.domain.store.operation import Operation
from shared.edge.declare.problems import RequestRejected, build_problem, to_problem
from shared.edge.declare.routes import Call, CreatingCall, LateRoutes, Route
from shared.edge.serve.requests import AuthDeps, parse_call
from shared.edge.serve.tracing import TracingMiddleware

DepsT = TypeVar("DepsT", bound=AuthDeps)
COMPRESSED_FROM = 2_000  # bytes; a shorter answer fits into two packets as it is
BRIEFLY_COMPRESSED = 131_072  # bytes; what is longer would hold up other requests for milliseconds
JSON = "application/json"
GZIP = 31  # zlib's code for gzip's frame with a window of 32 KiB
EXPOSED_HEADERS = (
    "X-Run-Id",
    "X-Request-Id",
    "X-Next-Cursor",
    "X-Has-More",
    "X-Total-Count",
    "X-Notification-Id",
    "Location",
    "Upload-Offset",
    "Upload-Length",
    "Upload-Expires",
    "Tus-Resumable",
    "Retry-After",
    "RateLimit",
    "RateLimit-Policy",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
)


def build_application(
    function: str,
    routes: Sequence[Route[DepsT]],
    deps: DepsT,
    *,
    later: Sequence[LateRoutes] = (),
    cors_origins: Sequence[str] = (),
) -> Starlette:
    """Build a function's application from its routes, with a health check beside them.

    Each of `later` is loaded with the first request that no route before it serves.
    Pages of `cors_origins` may call it from a browser.
    """
    is_internal = all(row.access == "service" for row in routes)

    async def check_health(_: Request) -> Response:
        return JSONResponse({"status": "ok", "function": function})

    return Starlette(
        routes=[
            routing.Route("/healthz", check_health),
            *_build_routes(function, routes, deps, later),
        ],
        exception_handlers={HTTPException: handle_http_exception},
        middleware=[
            Middleware(TracingMiddleware, function=function, is_internal=is_internal),
            *_build_cors_middleware(cors_origins),
        ],
    )


class _LateRouter:
    """A router that is built with its first request; where that fails, with the next one."""

    def __init__(self, load: Callable[[], Sequence[routing.BaseRoute]]) -> None:
        self._load = load

    @cached_property
    def _router(self) -> routing.Router:
        return routing.Router(self._load())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            answer: ASGIApp = self._router
        except Exception:  # noqa: BLE001 - as below
            answer = _answer_unhandled()
        await answer(scope, receive, send)


def _build_cors_middleware(origins: Sequence[str]) -> list[Middleware]:
    if not origins:
        return []
    from starlette.middleware.cors import CORSMiddleware

    return [
        Middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=EXPOSED_HEADERS,
        )
    ]


async def handle_http_exception(request: Request, error: Exception) -> Response:
    """Answer what the router refuses, an unknown path or method, as a problem."""
    assert isinstance(error, HTTPException)
    details = {
        404: "There is no such route. docs/openapi.json describes all of them.",
        405: f"This route does not take {request.method}. docs/openapi.json says what it takes.",
    }
    detail = details.get(error.status_code, error.detail)
    return build_problem(error.status_code, detail, headers=error.headers)


def _build_routes(
    function: str,
    rows: Sequence[Route[DepsT]],
    deps: DepsT,
    later: Sequence[LateRoutes],
    before: Sequence[routing.BaseRoute] = (),
) -> list[routing.BaseRoute]:
    """Build routes, and those `before` them once more: only who knows every path can refuse a method."""

    def load() -> list[routing.BaseRoute]:
        late, *others = later
        return _build_routes(function, late.load(), late.build_deps(), others, built)

    built = [*(_build_route(function, row, deps) for row in rows), *before]
    return [*built, routing.Mount("", _LateRouter(load))] if later else built


def _build_route(function: str, row: Route[DepsT], deps: DepsT) -> routing.Route:
    return routing.Route(row.path, _build_endpoint(function, row, deps), methods=[row.method])


def _build_endpoint(
    function: str, row: Route[DepsT], deps: DepsT
) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        telemetry.add_fields(route=f"{row.method} {row.path}")
        try:
            answer = await _dispatch(function, row, deps, request)
            if answer.media_type == JSON:
                answer.headers.setdefault("Cache-Control", "private, no-store")
            return await _compress(request, answer)
        except RequestRejected as rejection:
            return rejection.response
        except Exception as error:  # noqa: BLE001 - the last one who can still answer in our words
            expected = _find_expected(error)
            if expected is None:
                return _answer_unhandled()
            telemetry.add_fields(error=type(expected).__name__)
            return to_problem(expected)

    return handle


def _find_expected(error: Exception) -> KeepsakeError | None:
    """Return the error of ours that ended a request, also where it ended parts of it that ran beside one another."""
    if isinstance(error, ExceptionGroup):
        expected, rest = error.split(KeepsakeError)
        return _find_expected(expected.exceptions[0]) if expected and rest is None else None
    return error if isinstance(error, KeepsakeError) else None


async def _compress(request: Request, answer: Response) -> Response:
    """Compress a long answer of JSON for those who take gzip; lists of records shrink to a tenth."""
    body = getattr(answer, "body", b"")  # a stream has none
    if len(body) >= COMPRESSED_FROM and answer.media_type == JSON:
        answer.headers["Vary"] = "Accept-Encoding"
        if "gzip" in request.headers.get("accept-encoding", ""):
            compress = partial(zlib.compress, body, level=4, wbits=GZIP)
            answer.body = (
                await to_thread.run_sync(compress) if len(body) > BRIEFLY_COMPRESSED else compress()
            )
            answer.headers["Content-Encoding"] = "gzip"
            answer.headers["Content-Length"] = str(len(answer.body))
    return answer


def _answer_unhandled() -> Response:
    telemetry.error("unhandled")
    return build_problem(500, "Internal Server Error")


async def _dispatch(function: str, row: Route[DepsT], deps: DepsT, request: Request) -> Response:
    call = await parse_call(function, row, deps, request)
    if row.creates:
        return await _create_once(row, deps, call)
    work = partial(row.handler, deps, call)
    result = await (_work_for_caller(request, work) if row.cancels_on_disconnect else work())
    return _render(row, result)


def _render(row: Route[Any], result: Any) -> Response:
    if isinstance(result, Response):
        return result
    content = type_adapter(row.response).dump_json(result) if row.response is not None else b""
    return Response(content, status_code=row.status, media_type=row.media_type)


async def _create_once(row: Route[Any], deps: Any, call: Call[Any, Any, Any]) -> Response:
    """Import with the first creation what no other request needs."""
    from shared.edge.declare.idempotency import run_idempotent

    request = {field.name: getattr(call, field.name) for field in fields(call)}

    async def work(operation: Operation) -> Response:
        return _render(row, await row.handler(deps, CreatingCall(**request, operation=operation)))

    is_user = row.access == "user"
    uid, caller = (call.uid, call.uid) if is_user else (call.caller.uid, call.caller.id)
    return await run_idempotent(deps, call, uid=uid, caller=caller, work=work)


async def _work_for_caller(request: Request, work: Callable[[], Awaitable[Any]]) -> Any:
    """Import with the first such request what few routes use."""
    from shared.edge.serve.cancel_on_disconnect import cancel_on_disconnect

    return await cancel_on_disconnect(request, work)
