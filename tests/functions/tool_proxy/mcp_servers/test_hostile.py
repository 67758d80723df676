"""Hostile MCP servers: each failure is one sentence, soon, and without private details (T19)."""

import itertools
import json
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from functions.tool_proxy.mcp_servers.client import MAX_PAGES
from functions.tool_proxy.mcp_servers.egress_transport import MAX_REQUESTS
from shared.ports import Egress, EgressRequest, EgressResponse
from tests.fixtures.mcp_servers import McpServersFixture, open_mcp_servers_fixture
from tests.fixtures.tool_proxy import replace_egress
from tests.servers import run_server
from tests.servers.mcp_server import FIND_TOOL

Answer = Callable[[Request, Any], Awaitable[Response]]
STREAM = "text/event-stream"


@dataclass
class ShortTimeoutEgress:
    """An egress with a shorter timeout."""

    egress: Egress
    seconds: float = 0.3

    def check_url(self, url: str, *, local_origins: Collection[str] = ()) -> None:
        self.egress.check_url(url, local_origins=local_origins)

    async def send(self, request: EgressRequest) -> EgressResponse:
        return await self.egress.send(replace(request, timeout_s=self.seconds))


class HostileServer:
    """A handwritten MCP server: a correct handshake, then `answer` for every request."""

    def __init__(self, answer: Answer, *, pings: int = 0) -> None:
        self._answer = answer
        self._pings = pings
        self.methods: list[str] = []

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/mcp", self._serve, methods=["POST", "GET", "DELETE"])])

    async def _serve(self, request: Request) -> Response:
        message = json.loads(await request.body() or b"{}")
        self.methods.append(message.get("method", request.method))
        match message.get("method"):
            case "server/discover":
                return Response(status_code=404)
            case "initialize":
                return self._handshake(message)
            case "tools/list":
                return await self._answer(request, message)
        return Response(status_code=202)

    def _handshake(self, message: Any) -> Response:
        pings = [{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in range(self._pings)]
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": HANDSHAKE}
        events = [f"data: {json.dumps(message_out)}\n\n" for message_out in (*pings, answer)]
        return Response("".join(events), media_type=STREAM)


HANDSHAKE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "hostile", "version": "1"},
}


def result(message: Any, content: Any) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": content})


@contextmanager
def run_hostile_server(
    tmp_path: Path, answer: Answer, *, pings: int = 0
) -> Iterator[tuple[McpServersFixture, HostileServer, str]]:
    server = HostileServer(answer, pings=pings)
    with run_server(server.app()) as origin, open_mcp_servers_fixture(tmp_path, [origin]) as world:
        yield world, server, f"{origin}/mcp"


async def huge(_: Request, message: Any) -> Response:
    return result(message, {"tools": [], "padding": "x" * 2_000_000})


async def html(*_: Any) -> Response:
    return Response("<html>Traceback", media_type="text/html")


async def odd_header(*_: Any) -> Response:
    answer = Response("{}")
    answer.raw_headers.append((b"content-type", "application/jsön".encode()))
    return answer


async def empty(*_: Any) -> Response:
    return Response(media_type="application/json")


async def no_rpc(*_: Any) -> Response:
    return JSONResponse([1, {"jsonrpc": "1.0"}])


async def odd_list(_: Request, message: Any) -> Response:
    return result(message, {"tools": "all of them"})


async def odd_tool(_: Request, message: Any) -> Response:
    return result(message, {"tools": [{"name": 3, "inputSchema": []}]})


async def too_deep(_: Request, message: Any) -> Response:
    deep = "[" * 100_000 + "]" * 100_000
    body = f'{{"jsonrpc":"2.0","id":{message["id"]},"result":{{"tools":{deep}}}}}'
    return Response(body, media_type="application/json")


async def accept_only(*_: Any) -> Response:
    return Response(status_code=202)


async def server_error(*_: Any) -> Response:
    return Response("File /srv/secret.py", status_code=500)


async def cut_stream(*_: Any) -> Response:
    return Response("event: message\ndata: {\n\n", media_type=STREAM)


async def silent_stream(*_: Any) -> Response:
    return Response(": nothing\n\n", media_type=STREAM)


async def leaky_error(_: Request, message: Any) -> Response:
    error = {"code": -32000, "message": "Denied for Bearer abcdefgh12345\n  at srv.py(3)"}
    return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "error": error})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (huge, "could not be asked: The answer is over 1 MB."),
        (html, "refused: Unexpected content type: text/html; charset=utf-8"),
        (odd_header, "refused: Unexpected content type: application/jsön"),
        (empty, "refused: "),
        (no_rpc, "refused: "),
        (odd_list, "refused: The server's answer does not follow the protocol."),
        (odd_tool, "refused: The server's answer does not follow the protocol."),
        (too_deep, "refused: "),
        (accept_only, "refused: server answered a request with 202 Accepted"),
        (server_error, "refused: Server returned an error response"),
        (cut_stream, "refused: "),
        (silent_stream, "refused: SSE stream ended without a response"),
        (leaky_error, "refused: Denied for [removed]"),
    ],
)
async def test_an_invalid_answer_is_reported_in_one_sentence_t19(tmp_path, answer, expected):
    with run_hostile_server(tmp_path, answer) as (world, _, url):
        added = await world.add(url)

        assert added.status_code == 502
        detail = added.json()["detail"]
        assert detail.startswith(f"The MCP server {expected}")
        assert "\n" not in detail
        assert "secret" not in detail
        assert (await world.request("GET", "/v1/apps")).json() == []


async def test_an_endless_stream_times_out_t19(tmp_path):
    async def endless(*_: Any) -> Response:
        async def drops():
            while True:
                yield b": drop\n\n"
                await anyio.sleep(0.05)

        return StreamingResponse(drops(), media_type=STREAM)

    with run_hostile_server(tmp_path, endless) as (world, _, url):
        short_timeout_deps = replace_egress(world.deps, ShortTimeoutEgress(world.deps.egress))
        added = await replace(world, deps=short_timeout_deps).add(url)

    assert added.status_code == 502
    assert "No whole answer within" in added.json()["detail"]


async def test_the_number_of_requests_per_exchange_is_limited_t19(tmp_path):
    async def never(*_: Any) -> Response:
        await anyio.sleep_forever()
        raise AssertionError

    with run_hostile_server(tmp_path, never, pings=1_000) as (world, server, url):
        short_timeout_deps = replace_egress(
            world.deps, ShortTimeoutEgress(world.deps.egress, seconds=2)
        )
        added = await replace(world, deps=short_timeout_deps).add(url)

    assert added.json()["detail"].endswith(f"sent us more than {MAX_REQUESTS} requests.")
    assert len(server.methods) <= MAX_REQUESTS


async def test_an_endless_tool_list_is_read_up_to_the_page_limit_t19(tmp_path):
    page = itertools.count()

    async def endless(_: Request, message: Any) -> Response:
        tool = FIND_TOOL.model_dump(by_alias=True, exclude_none=True) | {
            "name": f"tool{next(page)}"
        }
        return result(message, {"tools": [tool], "nextCursor": "again"})

    with run_hostile_server(tmp_path, endless) as (world, _, url):
        added = await world.add(url)

    assert added.json()["tools_count"] == MAX_PAGES


@pytest.mark.parametrize(
    "location", ["http://169.254.169.254/latest/meta-data", "https://other.example/mcp", "http://["]
)
async def test_a_redirect_to_another_origin_is_not_followed_t19(tmp_path, location):
    async def redirect(*_: Any) -> Response:
        return RedirectResponse(location)

    with run_hostile_server(tmp_path, redirect) as (world, server, url):
        added = await world.add(url)

    assert added.status_code == 502
    assert server.methods.count("tools/list") == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/mcp",
        "https://localhost/mcp",
        "https://10.0.0.1/mcp",
        "https://metadata.google.internal/mcp",
        "https://user@example.com/mcp",
        "ftp://example.com/",
        "mcp",
        "https://[mcp",
        "a\nb",
        "&\u00a8\b [\u00bd\U0001f5bb",
    ],
)
async def test_a_server_url_that_egress_rules_refuse_is_rejected_t19(tmp_path, url):
    with open_mcp_servers_fixture(tmp_path, []) as world:
        added = await world.add(url)

    assert added.status_code == 400
    assert added.json()["detail"].startswith("The address of the MCP server is refused: ")


async def test_answers_of_a_server_are_not_logged_t19(tmp_path, caplog, capfd):
    async def answer(*_: Any) -> Response:
        return Response('{"jsonrpc": "my secret"}', media_type="application/json")

    with run_hostile_server(tmp_path, answer) as (world, _, url):
        await world.add(url)

    output = capfd.readouterr()
    assert "my secret" not in caplog.text + output.out + output.err
