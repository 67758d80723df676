"""Load balancer on loopback: one origin for the console's files and for every public function, by routes.json."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
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
TIMEOUT_S = 900.0


def build_load_balancer(urls: Mapping[str, str], config: Mapping[str, Any]) -> Starlette:
    """Pass requests on to the functions at `urls`; `config` is what the console's host says of sign-in."""
    http = httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_S)

    @asynccontextmanager
    async def closing(_: Starlette) -> AsyncIterator[None]:
        async with http:
            yield

    routes: list[Route | WebSocketRoute | Mount] = [
        WebSocketRoute(to_starlette_path(path), build_socket_proxy(urls[function.name]))
        if function.carries_sockets
        else Route(to_starlette_path(path), build_proxy(http, urls[function.name]), methods=METHODS)
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


def build_proxy(http: httpx.AsyncClient, url: str) -> Any:
    async def pass_on(request: Request) -> Response:
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        headers = [(k, v) for k, v in request.headers.items() if k not in PER_HOP]
        content = await request.body()
        sent = http.build_request(request.method, url + path, headers=headers, content=content)
        answer = await http.send(sent, stream=True)
        kept = {name: value for name, value in answer.headers.items() if name not in PER_HOP}
        return StreamingResponse(
            answer.aiter_raw(), answer.status_code, kept, background=BackgroundTask(answer.aclose)
        )

    return pass_on


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
