"""The tool proxy's world: real stores in SQLite, a real server, time that stands."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from functions.tool_proxy.calls.call_routes import ROUTES
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.http_toolbox import HttpToolbox
from shared.edge.http import build_application
from tests.fakes import FixedClock, RecordingTasks
from tests.functions.tool_proxy.fixture import INDEXES, NotesServer, ToolProxyFixture, build_deps
from tests.servers import run_server


@pytest.fixture
def notes() -> NotesServer:
    return NotesServer()


@pytest.fixture
def notes_url(notes: NotesServer) -> Iterator[str]:
    with run_server(notes.app()) as url:
        yield url


@pytest.fixture
async def world(
    notes: NotesServer, notes_url: str, tmp_path: Path
) -> AsyncIterator[ToolProxyFixture]:
    database = SqliteDatabase(tmp_path / "keepsake.db")
    documents = SqliteDocuments(database, FirestoreIndexes.read(INDEXES))
    clock = FixedClock(datetime.now(UTC))  # a receiver compares the signature's time with now
    tasks = RecordingTasks()
    deps = build_deps(documents, clock, origins=[notes_url], tasks=tasks)
    with run_server(build_application("tool_proxy", ROUTES, deps)) as proxy_url:
        toolbox = HttpToolbox(proxy_url, deps.service_identity, deps.clock)
        yield ToolProxyFixture(documents, clock, tasks, deps, notes, notes_url, proxy_url, toolbox)
        await toolbox.aclose()
    database.close()
