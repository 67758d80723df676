"""The tool proxy between two real servers: its own, and that of the app Notes."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime

import pytest

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.ports import Documents
from tests.fakes import FixedClock, RecordingTasks
from tests.fixtures.notes_app import NotesFixture, NotesServer
from tests.fixtures.tool_proxy import build_deps, serve_tool_proxy
from tests.fixtures.webhooks import WebhookFixture, serve_webhook
from tests.servers import run_server


@pytest.fixture
def database(file_database: SqliteDatabase) -> SqliteDatabase:
    """In a file, which servers in other threads read too."""
    return file_database


@pytest.fixture
def notes() -> NotesServer:
    return NotesServer()


@pytest.fixture
def notes_url(notes: NotesServer) -> Iterator[str]:
    with run_server(notes.app()) as url:
        yield url


@pytest.fixture
async def world(
    notes: NotesServer, notes_url: str, documents: Documents
) -> AsyncIterator[NotesFixture]:
    clock = FixedClock(datetime.now(UTC))  # a receiver compares the signature's time with now
    tasks = RecordingTasks()
    deps = build_deps(documents, clock, origins=[notes_url], tasks=tasks)
    async with serve_tool_proxy(deps) as (proxy_url, toolbox):
        yield NotesFixture(
            documents=documents,
            clock=clock,
            tasks=tasks,
            deps=deps,
            notes=notes,
            notes_url=notes_url,
            proxy_url=proxy_url,
            toolbox=toolbox,
        )


@pytest.fixture
async def fixture(world: NotesFixture) -> AsyncIterator[WebhookFixture]:
    """A diary that hears of Alice's conversations."""
    async with serve_webhook(world) as prepared_fixture:
        yield prepared_fixture
