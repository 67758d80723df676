"""Load balancer on loopback: one origin for the console's files and for every public function, by routes.json."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import httpx
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from infra.local.routing import ROOT, load_entry_points, to_starlette_path

HEADERS: Mapping[str, str] = json.loads((ROOT / "infra/console_headers.json").read_text())["**"]
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"]
PER_HOP = {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}
MAX_BYTES = 33_554_432
"""Of a request, and of an answer that announces its length: Cloud Run takes 32 MiB."""
TOO_LARGE_REQUEST = Response("Request Entity Too Large", 413)
TOO_LARGE_ANSWER = Response("Response size was too large.", 500)
TOO_LATE = Response("upstream request timeout", 504)
NO_INSTANCE = Response("no available instance", 503)


def build_load_balancer(
    urls: Mapping[str, str], timeouts_s: Mapping[str, float], config: Mapping[str, Any]
) -> Starlette:
    """Pass requests on to the functions at `urls`, within what Cloud Run allows.

    A request ends after its function's timeout, an answer that has begun is cut off. `config` is what the console's
    host says of sign-in.
    """
    http = httpx.AsyncClient(trust_env=False, timeout=None)  # noqa: S113 - each request has its function's

    @asynccontextmanager
    async def closing(_: Starlette) -> AsyncIterator[None]:
        async with http:
            yield

    routes: list[Route | WebSocketRoute | Mount] = [
        WebSocketRoute(to_starlette_path(path), build_socket_proxy(urls[function.name]))
        if function.carries_sockets
        else Route(
            to_starlette_path(path),
            build_proxy(http, urls[function.name], timeouts_s[function.name]),
            methods=METHODS,
        )
        for function in load_entry_points()
        for path in function.paths
    ]
    routes += [
        Route("/config.json", lambda _: JSONResponse(dict(config))),
        Route("/openapi.json", lambda _: FileResponse(ROOT / "docs/openapi.json")),
        Mount("/", StaticFiles(directory=ROOT / "web", html=True)),
    ]
    return Starlette(routes=routes, middleware=[Middleware(BaseHTTPMiddleware, dispatch=add_headers)], lifespan=closing)  # fmt: skip


async def add_headers(request: Request, call_next: Any) -> Response:
    """Add the policies of the console's files, unless a function sent its own."""
    response: Response = await call_next(request)
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response


def build_proxy(http: httpx.AsyncClient, url: str, timeout_s: float) -> Any:
    async def pass_on(request: Request) -> Response:
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        headers = [(k, v) for k, v in request.headers.items() if k not in PER_HOP]
        content = await request.body()
        if len(content) > MAX_BYTES:
            return TOO_LARGE_REQUEST
        sent = http.build_request(request.method, url + path, headers=headers, content=content)
        deadline = anyio.current_time() + timeout_s
        try:
            with anyio.fail_after(timeout_s):
                answer = await http.send(sent, stream=True)
        except TimeoutError:
            return TOO_LATE
        except httpx.TransportError:
            return NO_INSTANCE
        ending = BackgroundTask(answer.aclose)
        if int(answer.headers.get("content-length", 0)) > MAX_BYTES:
            await answer.aclose()
            return TOO_LARGE_ANSWER
        kept = {name: value for name, value in answer.headers.items() if name not in PER_HOP}
        pieces = cut_at(deadline, answer.aiter_raw())
        return StreamingResponse(pieces, answer.status_code, kept, background=ending)

    return pass_on


async def cut_at(deadline: float, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield pieces until the deadline; whoever reads cannot tell that from the end, as at Cloud Run."""
    iterator = aiter(pieces)
    with suppress(TimeoutError):
        while True:
            with anyio.fail_after(deadline - anyio.current_time()):
                piece = await anext(iterator, None)
            if piece is None:
                return
            yield piece


def build_socket_proxy(url: str) -> Any:
    async def pass_on(socket: WebSocket) -> None:
        address = url.replace("http", "ws", 1) + f"{socket.url.path}?{socket.url.query}"
        passed = {"authorization", "x-device-id-hash"}
        headers = [(name, value) for name, value in socket.headers.items() if name in passed]
        try:
            async with connect(address, additional_headers=headers) as function:
                await socket.accept()
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(pass_up, socket, function)
                    async for message in function:  # it tells all in text
                        await socket.send_text(str(message))
                    await socket.close(function.close_code or 1000, function.close_reason)
                    tasks.cancel_scope.cancel()
        except InvalidStatus as refusal:
            answer = refusal.response
            await socket.send_denial_response(
                Response(bytes(answer.body or b""), answer.status_code)
            )

    return pass_on


async def pass_up(socket: WebSocket, function: ClientConnection) -> None:
    """Pass on what the device sends, until it leaves."""
    while (message := await socket.receive())["type"] == "websocket.receive":
        await function.send(message.get("bytes") or message.get("text") or "")
    await function.close()
