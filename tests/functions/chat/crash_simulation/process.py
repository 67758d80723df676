"""Process of the simulation: its link to the store, its runs, its death."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import anyio

from functions.chat.deps import ChatDeps
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.domain.errors import Unavailable
from shared.domain.models.model import TextDelta
from shared.ports import Documents
from tests.fakes import (
    CountingIds,
    FixedClock,
    ScriptedModel,
    ScriptedStep,
    UnmaskedModels,
    script_answer,
    script_calls,
)
from tests.fixtures.chat import ChatFixture, build_chat_fixture
from tests.fixtures.idle import run_ready_tasks
from tests.fixtures.storage import INDEXES, MemoryDatabase
from tests.functions.chat.crash_simulation.plans import Fault, Plan

T = TypeVar("T")
Work = Callable[[], Coroutine[Any, Any, None]]


class StoreLink:
    """Link of a process to the store: counts calls in flight, and fails as planned."""

    def __init__(self, documents: Documents, faults: dict[int, Fault] | None = None) -> None:
        self._documents = documents
        self._faults = faults or {}
        self._writes = 0
        self.is_down = False
        self.in_flight_count = 0
        self.call_finished = anyio.Event()

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._documents, name)

        async def call_with_faults(*arguments: Any) -> Any:
            fault = self._next_fault() if name == "write" else None
            if self.is_down or fault == "refused":
                raise Unavailable("the store does not answer")
            value = await self._count_in_flight(call(*arguments))
            if fault == "lost":
                raise Unavailable("the reply of the store got lost")
            return value

        return call_with_faults

    async def _count_in_flight(self, call: Coroutine[Any, Any, T]) -> T:
        self.in_flight_count += 1
        try:
            return await call
        finally:
            self.in_flight_count -= 1
            self.call_finished.set()
            self.call_finished = anyio.Event()

    def _next_fault(self) -> Fault | None:
        self._writes += 1
        return self._faults.get(self._writes - 1)


class SimulatedProcess:
    """One instance of the chat function."""

    def __init__(
        self, world: ChatFixture, plan: Plan, name: str, faults: dict[int, Fault] | None = None
    ) -> None:
        self.store_link = StoreLink(world.documents, faults)
        self.models: list[ScriptedModel] = []
        self._turns = _script_turns(plan, world.clock)
        deps = replace(world, documents=self.store_link).deps()
        self.deps = replace(deps, new_id=CountingIds(prefix=name))
        self._connections: list[anyio.CancelScope] = []
        self._runs: list[anyio.CancelScope] = []

    def build_run_deps(self) -> ChatDeps:
        """Give a run a model of its own: two runs of one question must not share a script."""
        self.models.append(ScriptedModel(*self._turns))
        return replace(self.deps, model=UnmaskedModels(model=self.models[-1]))

    async def run(self, work: Work) -> None:
        """Run work that continues when connections end."""
        with anyio.CancelScope() as scope:
            self._runs.append(scope)
            await work()

    async def connect(self, read: Work) -> None:
        """Read from this process until that ends, or the process dies."""
        with anyio.CancelScope() as scope:
            self._connections.append(scope)
            await read()

    def kill(self) -> None:
        """Die: cancel runs and connections, and let no write reach the store."""
        self.store_link.is_down = True
        for scope in [*self._connections, *self._runs]:
            scope.cancel()


async def wait_until_idle(*processes: SimulatedProcess) -> None:
    """Return when everything waits for the clock."""
    while True:
        await run_ready_tasks()
        busy = next(
            (process.store_link for process in processes if process.store_link.in_flight_count),
            None,
        )
        if busy is None:
            return
        await busy.call_finished.wait()


def _script_turns(plan: Plan, clock: FixedClock) -> list[Sequence[ScriptedStep]]:
    """Script the model: every turn but the last ends with a tool call."""
    *tool_turns, last = [[_to_step(word, clock) for word in turn] for turn in plan.script]
    return [
        *([*turn, *script_calls(("get_memories", {}))] for turn in tool_turns),
        [*last, *script_answer()],
    ]


def _to_step(word: str | float | None, clock: FixedClock) -> ScriptedStep:
    match word:
        case str():
            return TextDelta(word)
        case None:
            return Unavailable("the model broke off")
        case _:
            return lambda: clock.sleep(word)


def open_fixture(documents: Documents | None) -> ChatFixture:
    """Build a fixture in memory, unless `documents` says where."""
    database = MemoryDatabase()
    return build_chat_fixture(database, documents or SqliteDocuments(database, INDEXES))
