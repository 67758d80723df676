"""A tool call that leaves for the proxy: made once, or not at all (C55)."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from shared.adapters.http_toolbox import NETWORK_START_S, HttpToolbox
from shared.domain.errors import ToolFailed
from shared.domain.ids import UserId
from tests.fakes import AutoAdvanceClock
from tests.fixtures.callers import DELEGATIONS, SERVICE_IDENTITY
from tests.servers import run_server
from tests.servers.receiver import Receiver

RESULT = b'{"content":"done","entry_type":null,"hidden_fields":[],"shown_text":""}'
ANSWER = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + RESULT
PROXY_DOWN = "^The service that calls apps does not answer.$"


@dataclass
class CallbackClock(AutoAdvanceClock):
    """Does something when somebody waits."""

    on_sleep: Callable[[], Awaitable[object]] | None = None

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds)
        if self.on_sleep is not None:
            await self.on_sleep()


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


async def call(url: str, clock: AutoAdvanceClock) -> str:
    async with aclosing(
        HttpToolbox(url, SERVICE_IDENTITY, DELEGATIONS, clock, caller="chat")
    ) as toolbox:
        return await send(toolbox)


async def send(toolbox: HttpToolbox) -> str:
    result = await toolbox.call(UserId("ada"), "APP1", "send", {}, call_id="c1", pin="p1")
    return result.visible_text


async def test_a_proxy_that_answers_the_second_attempt_is_called_c55() -> None:
    port = find_free_port()
    servers: list[asyncio.Server] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        writer.close()

    async def start() -> None:
        servers.append(await asyncio.start_server(answer, "127.0.0.1", port))

    clock = CallbackClock(on_sleep=start)
    assert await call(f"http://127.0.0.1:{port}", clock) == "done"
    assert len(clock.sleeps_s) == 1
    for server in servers:
        server.close()


async def test_the_first_call_waits_while_the_network_of_an_instance_starts_f2() -> None:
    clock = AutoAdvanceClock()

    with pytest.raises(ToolFailed, match=PROXY_DOWN):
        await call(f"http://127.0.0.1:{find_free_port()}", clock)

    assert NETWORK_START_S - 1 < sum(clock.sleeps_s) < NETWORK_START_S + 2
    assert len(clock.sleeps_s) < 40


async def test_a_proxy_that_is_not_reached_any_more_is_tried_twice_c55() -> None:
    clock, port = AutoAdvanceClock(), find_free_port()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        writer.close()

    toolbox = HttpToolbox(f"http://127.0.0.1:{port}", SERVICE_IDENTITY, DELEGATIONS, clock, caller="chat")  # fmt: skip
    async with aclosing(toolbox):
        async with await asyncio.start_server(answer, "127.0.0.1", port):
            await send(toolbox)
        with pytest.raises(ToolFailed, match=PROXY_DOWN):
            await send(toolbox)

    assert len(clock.sleeps_s) == 1


async def test_a_call_that_was_sent_is_never_sent_again_c55() -> None:
    receiver = Receiver(refusals=9)
    with run_server(receiver.app) as url:
        with pytest.raises(ToolFailed, match=PROXY_DOWN):
            await call(url, AutoAdvanceClock())

        await receiver.wait_for_request()
        assert receiver.is_empty


@pytest.mark.parametrize("end", ["", "/"])
async def test_a_proxy_mounted_under_a_path_is_called_at_its_root(end: str) -> None:
    """The local gateway serves nothing at the mount's name without its slash."""

    async def answer(_: Request) -> Response:
        return Response(RESULT, media_type="application/json")

    mount = Mount("/tool_proxy", routes=[Route("/", answer, methods=["POST"])])
    with run_server(Starlette(routes=[mount])) as url:
        assert await call(f"{url}/tool_proxy{end}", AutoAdvanceClock()) == "done"
