"""The chat's world in tests: real stores in SQLite, a scripted model, time and ids that stand."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from blockbuster import blockbuster_ctx

from functions.chat.deps import ChatDeps, Limits
from functions.chat.runs.run_registry import RunRegistry
from shared.adapters.embedded.local_identity import LocalIdentity, LocalServiceIdentity
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.metered_documents import MeteredDocuments
from shared.data.cached_apps import CachedApps
from shared.data.search import Search
from shared.data.stores import Stores
from shared.domain.ids import UserId
from shared.ports import ChatModel, Documents, Vectors
from shared.wiring import ROOT
from tests.fakes import CountingIds, FixedClock, RecordingEvents, RecordingTasks, ScriptedModel

SECRET = b"0" * 32
ADA = UserId("ada")
EVE = UserId("eve")


@dataclass
class RecordingToolbox:
    """Answers calls with a fixed text and remembers them."""

    answer: str = "done"
    calls: list[tuple[str, str, str, Mapping[str, Any]]] = field(default_factory=list)
    call_ids: list[str] = field(default_factory=list)

    async def call(
        self,
        uid: UserId,
        app_id: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str,
    ) -> str:
        self.calls.append((uid, app_id, tool, arguments))
        self.call_ids.append(call_id)
        return self.answer

    async def call_service(
        self,
        uid: UserId,
        service: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str,
    ) -> str:
        return await self.call(uid, service, tool, arguments, call_id=call_id)

    async def disconnect_all(self, uid: UserId) -> None:
        raise AssertionError("a chat disconnects nobody")


@dataclass
class ChatFixture:
    """What a test may look into."""

    documents: Documents
    vectors: Vectors
    clock: FixedClock
    toolbox: RecordingToolbox
    events: RecordingEvents
    tasks: RecordingTasks

    async def advance_when_idle(self, **duration: float) -> None:
        """Let time pass once everybody waits and all that was written is stored."""
        await self.documents.delete_tree("nobody/nothing")  # behind every other write
        await anyio.wait_all_tasks_blocked()
        self.clock.advance(**duration)

    def deps(self, model: ChatModel | None = None, *, limits: Limits | None = None) -> ChatDeps:
        stores = Stores(self.documents)
        return ChatDeps(
            identity=LocalIdentity(SECRET),
            service_identity=LocalServiceIdentity(SECRET),
            clock=self.clock,
            new_id=CountingIds(),
            model=model or ScriptedModel(),
            events=self.events,
            tasks=self.tasks,
            toolbox=self.toolbox,
            stores=stores,
            search=Search(self.documents, self.vectors),
            offered_apps=CachedApps(stores.apps, self.clock),
            active_runs=RunRegistry(),
            limits=limits or Limits(),
        )


@pytest.fixture(autouse=True)
def forbid_blocking_calls() -> Iterator[None]:
    """Fail on what would hold up the event loop, and with it every other stream.

    What happens once in a process may: small local files (our prompts, the zones, what a package
    says about itself), and a module's import, which waits where another thread, such as a server's,
    imports the same.
    """
    with blockbuster_ctx() as watch:
        for call in ("io.TextIOWrapper.read", "io.BufferedReader.read"):
            watch.functions[call].can_block_in("shared/prompts/__init__.py", "_read_text")
            watch.functions[call].can_block_in("zoneinfo/_common.py", "load_data")
            watch.functions[call].can_block_in("importlib/metadata/__init__.py", "read_text")
        imports = "<frozen importlib._bootstrap>"
        watch.functions["threading.Lock.acquire"].can_block_in(imports, "acquire")
        watch.functions["os.stat"].can_block_in("zoneinfo/_tzpath.py", "find_tzfile")
        yield


@pytest.fixture
def world(tmp_path: Path) -> ChatFixture:
    return open_fixture(tmp_path)


def open_fixture(folder: Path) -> ChatFixture:
    database = SqliteDatabase(folder / "keepsake.db")
    indexes = FirestoreIndexes.read(ROOT / "infra/firestore.indexes.json")
    return ChatFixture(
        documents=MeteredDocuments(SqliteDocuments(database, indexes)),
        vectors=SqliteVectors(database),
        clock=FixedClock(),
        toolbox=RecordingToolbox(),
        events=RecordingEvents(),
        tasks=RecordingTasks(),
    )
