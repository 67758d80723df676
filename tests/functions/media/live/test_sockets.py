"""Live sound over real sockets, as uvicorn serves them: refusals before a socket is accepted, and many streams."""

import json
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from functions.media.live.application import build_application
from infra.local.routing import load_entry_points
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.system_clock import SystemClock
from shared.adapters.windowed_transcriber import WindowedTranscriber
from tests.cloud_local.load_balancer import build_load_balancer
from tests.fakes import ScriptedTranscriber
from tests.fixtures.callers import build_auth_headers
from tests.fixtures.devices import (
    FRAME,
    Device,
    ScriptedLiveTranscriber,
    build_device,
    build_listen_deps,
)
from tests.fixtures.sounds import build_tone
from tests.servers import run_server

QUERY = "codec=pcm16&sample_rate=16000&language=en&conversation_timeout=120&source=omi"


@pytest.fixture
def database(file_database: SqliteDatabase) -> SqliteDatabase:
    """In a file, which the server in another thread reads too."""
    return file_database


@pytest.fixture
def origin(world) -> Iterator[str]:
    """Serve live sound that hears one line."""
    object.__setattr__(world, "clock", SystemClock())
    transcriber = ScriptedLiveTranscriber([(0.0, 0.5, "Hello."), (0.5, 1.0, "Bye.")])
    with run_server(build_application(build_listen_deps(world, transcriber))) as url:
        yield url


@asynccontextmanager
async def open_socket(origin: str, uid: str | None = "alice") -> AsyncIterator[ClientConnection]:
    headers = build_auth_headers(uid) if uid else {}
    url = f"{origin.replace('http', 'ws')}/v4/listen?{QUERY}"
    async with connect(url, additional_headers=headers) as socket:
        yield socket


async def read_segments(socket: ClientConnection, count: int) -> list[str]:
    texts = list[str]()
    async for message in socket:
        content = json.loads(message) if message != "ping" else None
        texts += [each["text"] for each in content] if isinstance(content, list) else []
        if len(texts) >= count:
            break
    return texts


async def test_a_device_is_heard_over_a_socket_and_nobody_else_l3(origin: str) -> None:
    async with open_socket(origin) as socket:
        for _ in range(12):
            await socket.send(FRAME)
        texts = await read_segments(socket, 2)
    with pytest.raises(InvalidStatus) as refusal:
        async with open_socket(origin, uid=None):
            pass

    assert texts == ["Hello.", "Bye."]
    assert refusal.value.response.status_code == 401
    assert json.loads(refusal.value.response.body)["detail"] == "Authorization header not found"


async def test_a_frame_larger_than_any_device_sends_ends_the_stream(origin: str) -> None:
    async with open_socket(origin) as socket:
        await socket.send(bytes(70_000))
        with pytest.raises(ConnectionClosed) as closing:
            await read_segments(socket, 1)

    assert closing.value.rcvd is not None
    assert closing.value.rcvd.code == 1009


async def test_the_local_cloud_passes_sockets_on_d8(origin: str) -> None:
    urls = {function.name: origin for function in load_entry_points()}
    with run_server(build_load_balancer(urls, dict.fromkeys(urls, 60.0), {})) as front:
        async with open_socket(front) as socket:
            for _ in range(12):
                await socket.send(FRAME)
            texts = await read_segments(socket, 2)
        with pytest.raises(InvalidStatus) as refusal:
            async with open_socket(front, uid=None):
                pass

    assert texts == ["Hello.", "Bye."]
    assert refusal.value.response.status_code == 401


STREAMS, SECONDS = 50, 13
MAX_STREAM_BYTES = 2_000_000


async def test_fifty_streams_in_one_process_take_little_memory_each_l3(world) -> None:
    """More than a window of sound in each, heard in windows; in bytes, as clocks differ from machine to machine."""
    script = [[("A", 0, 1, "On and on.")] for _ in range(1_000)]
    transcriber = WindowedTranscriber(ScriptedTranscriber(script), world.clock, shows_guesses=False)
    app = build_application(build_listen_deps(world, transcriber))
    await play_streams(world, app, 1)
    tracemalloc.start()
    try:
        devices = await play_streams(world, app, STREAMS)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert all(device.segments for device in devices)
    assert peak / STREAMS < MAX_STREAM_BYTES


async def play_streams(world, app, count: int) -> list[Device]:
    tone = build_tone(1)[44:]
    devices = [build_device(app, world, uid=f"u{n}") for n in range(count)]
    for device in devices:
        await device.connect()
    for _ in range(SECONDS):
        world.clock.advance(seconds=1)
        for device in devices:
            await device.send(tone)
    for device in devices:
        await device.leave()
    return devices
