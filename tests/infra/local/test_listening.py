"""Listening ports of `make run`."""

import socket
from urllib.parse import quote

import anyio
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from infra.local.__main__ import _build_server, listen


def test_connections_send_without_waiting_for_an_acknowledgement() -> None:
    with listen("127.0.0.1", 0) as port, socket.create_connection(port.getsockname()):
        accepted, _ = port.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_the_longest_query_that_a_route_takes_arrives_in_any_script() -> None:
    """A callback from an authorization server may bring 8,000 characters, each escaped as twelve."""
    text = "🌧" * 8_000
    request = f"GET /?said={quote(text)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    server = _build_server(_echo)
    with listen("127.0.0.1", 0) as port:
        async with anyio.create_task_group() as group:
            group.start_soon(server.serve, [port])
            async with await anyio.connect_tcp(*port.getsockname()) as client:
                for offset in range(0, len(request), 20_000):
                    await client.send(request[offset : offset + 20_000])
                    await anyio.wait_all_tasks_blocked()
                answer = b"".join([part async for part in client])
            server.should_exit = True

    assert answer.endswith(text.encode())


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nHost: a", b"GET /?said=hi HTTP/1.1\r\nHost: a\r\n\r\nGET /"],
    ids=["nothing", "half a head", "half of a second one"],
)
async def test_a_connection_that_sends_no_whole_head_in_time_is_closed(
    sent: bytes,
) -> None:
    server = _build_server(_echo, head_timeout_s=0.1)
    with listen("127.0.0.1", 0) as port:
        async with anyio.create_task_group() as group:
            group.start_soon(server.serve, [port])
            async with await anyio.connect_tcp(*port.getsockname()) as client:
                await client.send(sent)
                with anyio.fail_after(4):
                    answer = b"".join([part async for part in client])
            server.should_exit = True

    assert answer.count(b"200 OK") == sent.count(b"hi")


async def _echo(scope: Scope, receive: Receive, send: Send) -> None:
    answer = PlainTextResponse(Request(scope).query_params["said"])
    await answer(scope, receive, send)
