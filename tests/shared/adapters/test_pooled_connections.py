"""Pooled connections to a model: what a server closes as it is asked again is asked on another connection."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from threading import Thread

import pytest

from shared.adapters.cloud.openai_http import OpenaiHttp
from shared.domain.errors import Unavailable
from tests.fakes import FixedClock

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: seen=yes\r\nConnection: keep-alive\r\n\r\n{}"


@contextmanager
def run_closing_server(answers_by_connection: Sequence[int]) -> Iterator[tuple[str, list[bytes]]]:
    """Answer so many requests of each connection, and close it without a word when another comes."""
    requests: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for answers in answers_by_connection:
                connection, _ = listener.accept()
                with connection:
                    for n in range(answers + 1):
                        requests.append(read_request(connection))
                        if n < answers:
                            connection.sendall(ANSWER)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", requests


def read_request(connection: socket.socket) -> bytes:
    """Read headers and an empty object, which may come in pieces."""
    request = b""
    while not request.endswith(b"{}"):
        request += connection.recv(65_536)
    return request


async def test_a_pooled_connection_that_the_server_closes_is_replaced() -> None:
    with run_closing_server([1, 1]) as (url, requests):
        http = OpenaiHttp(api_key="k", base_url=url, timeout_s=30, clock=FixedClock())
        answers = [await http.post("chat/completions", {}) for _ in range(2)]
        await http.aclose()

    assert answers == [b"{}", b"{}"]
    assert len(requests) == 3


async def test_a_new_connection_that_the_server_closes_is_not_tried_again() -> None:
    with run_closing_server([0, 1]) as (url, requests):
        http = OpenaiHttp(api_key="k", base_url=url, timeout_s=30, clock=FixedClock())
        with pytest.raises(Unavailable):
            await http.post("chat/completions", {})
        await http.aclose()

    assert len(requests) == 1


async def test_a_cookie_is_not_sent_with_the_next_request() -> None:
    with run_closing_server([2]) as (url, requests):
        http = OpenaiHttp(api_key="k", base_url=url, timeout_s=30, clock=FixedClock())
        for _ in range(2):
            await http.post("chat/completions", {})
        await http.aclose()

    assert [request for request in requests if b"seen=yes" in request] == []


@asynccontextmanager
async def run_counting_server() -> AsyncIterator[tuple[str, list[None]]]:
    """Answer on any number of connections; each leaves an item in the list."""
    connections: list[None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(None)
        while not reader.at_eof():
            if await reader.read(65_536):
                writer.write(ANSWER)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", connections


async def test_many_requests_at_once_keep_their_connections_for_the_next() -> None:
    async with run_counting_server() as (url, connections):
        http = OpenaiHttp(api_key="k", base_url=url, timeout_s=30, clock=FixedClock())
        for _ in range(3):
            await asyncio.gather(*(http.post("chat/completions", {}) for _ in range(40)))
        opened = len(connections)
        await http.aclose()

    assert opened == 40


async def test_one_request_after_the_other_goes_by_one_connection() -> None:
    async with run_counting_server() as (url, connections):
        http = OpenaiHttp(api_key="k", base_url=url, timeout_s=30, clock=FixedClock())
        await asyncio.gather(*(http.post("chat/completions", {}) for _ in range(2)))
        for _ in range(20):
            await http.post("chat/completions", {})
        opened = len(connections)
        await http.aclose()

    assert opened == 2
