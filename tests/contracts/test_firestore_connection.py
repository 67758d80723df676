"""Connection to Firestore: begun before the first request; what fails then shows with that request (D11)."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field

import anyio.to_thread
import pytest
from google.auth.credentials import Credentials
from google.cloud.firestore import AsyncClient

from infra.emulators.process import find_free_port
from shared.adapters.cloud.firestore_documents import FirestoreDocuments
from shared.adapters.store_clock import StoreClock
from shared.adapters.system_clock import SystemClock
from shared.domain.errors import Unavailable
from shared.settings import Settings
from shared.worlds.cloud import CloudWorld

pytestmark = pytest.mark.anyio
TIMEOUT_S = 20


@dataclass
class Relay:
    """A way to a server that counts who takes it; what only looks whether somebody listens says nothing."""

    address: str = ""
    connections: int = 0
    is_spoken_to: asyncio.Event = field(default_factory=asyncio.Event)


@asynccontextmanager
async def run_relay(target: str) -> AsyncIterator[Relay]:
    relay, (host, port) = Relay(), target.split(":")

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        relay.connections += 1
        there, back = await asyncio.open_connection(host, int(port))
        async with asyncio.TaskGroup() as group:
            group.create_task(copy(reader, back, relay.is_spoken_to))
            group.create_task(copy(there, writer))

    async with await asyncio.start_server(forward, "127.0.0.1", 0) as server:
        relay.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield relay


async def copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, began: asyncio.Event | None = None
) -> None:
    with closing(writer), suppress(ConnectionError):
        while piece := await reader.read(65_536):
            if began is not None:
                began.set()
            writer.write(piece)
            await writer.drain()


class FetchedToken(Credentials):
    """Credentials that tell when somebody asked for their token."""

    def __init__(self) -> None:
        super().__init__()
        self.is_fetched = threading.Event()

    def refresh(self, request: object) -> None:
        self.token = "token"
        self.is_fetched.set()


async def test_it_connects_and_fetches_its_token_before_the_first_request_d11(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("FIRESTORE_EMULATOR_HOST", raising=False)
    credentials = FetchedToken()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(TIMEOUT_S)
        address = f"127.0.0.1:{server.getsockname()[1]}"
        client = AsyncClient("project", credentials, client_options={"api_endpoint": address})

        FirestoreDocuments(client, StoreClock(SystemClock())).connect()

        connection, _ = await anyio.to_thread.run_sync(server.accept)
        connection.close()
    assert await anyio.to_thread.run_sync(credentials.is_fetched.wait, TIMEOUT_S)


@pytest.mark.emulators
async def test_requests_use_the_connection_that_was_begun_d11(
    firestore_emulator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with run_relay(firestore_emulator) as relay:
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", relay.address)
        documents = FirestoreDocuments(AsyncClient("test-connection"), StoreClock(SystemClock()))
        documents.connect()
        await relay.is_spoken_to.wait()
        connections = relay.connections

        assert await documents.get("users/nobody") is None

        assert relay.connections == connections


async def test_what_fails_at_the_start_shows_with_the_first_use_d11(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", f"127.0.0.1:{find_free_port()}")
    settings = Settings(world="cloud", project="project")
    world = CloudWorld(settings, SystemClock())

    world.connect()

    with pytest.raises(Unavailable):
        world.build_documents()
