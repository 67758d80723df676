"""Schedules: edits, deletes, repeats, crashes and interleaved workers lead to one end state (P29).

A schedule moves workers from one call of a port to the next, in any order, and kills some of them
there. Afterwards failed messages are delivered again until none is left.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.domain.conversations.conversation import Conversation, content_hash
from shared.domain.errors import Unavailable
from tests.fault_injection import Crash, WatchedPort
from tests.fixtures.processing import (
    ProcessingFixture,
    build_processing_fixture,
    build_test_conversation,
)
from tests.fixtures.storage import MemoryDatabase
from tests.functions.process_conversation.test_interruptions import (
    MODELS,
    NEW,
    OLD,
    EchoModel,
    compute_expected_end,
    deliver_until_idle,
)

VERSIONS: tuple[Conversation | None, ...] = (
    OLD,
    NEW,
    build_test_conversation("More words.", "And more."),
    None,
)
ChangeMessage = Mapping[str, Any]


class Worker:
    """Delivers one message, and pauses before and after each call until it is resumed."""

    def __init__(
        self, database: SqliteDatabase, client: ProcessingFixture, message: ChangeMessage
    ) -> None:
        self.message = message
        self.is_killed = False
        self._step_permits = asyncio.Semaphore(0)
        self._stopped_event = asyncio.Event()
        self._port = ""
        self.world = build_processing_fixture(
            database, client.model, self._watch_port, clock=client.clock
        )
        self.task = asyncio.create_task(self._deliver())

    def _watch_port(self, name: str, port: Any) -> Any:
        return WatchedPort(port, Checkpoints(self, name))

    async def intercept(self, name: str, call: Any) -> Any:
        self._port = name
        await self._wait_for_step()
        value = await call()
        self._port = ""
        await self._wait_for_step()
        return value

    async def run_to_index_write(self) -> None:
        """Resume until the next step is a write to the index."""
        while self._port != "vectors" and not self.task.done():
            await self.step()

    async def step(self) -> None:
        """Resume until the next pause, or the end."""
        self._stopped_event.clear()
        self._step_permits.release()
        arrival = asyncio.create_task(self._stopped_event.wait())
        await asyncio.wait({arrival, self.task}, return_when=asyncio.FIRST_COMPLETED)
        arrival.cancel()

    async def run_to_end(self) -> bool:
        """Resume until the end; return whether the message was handled."""
        while not self.task.done():
            await self.step()
        with suppress(Crash, Unavailable):
            await self.task
            return True
        return False

    async def _deliver(self) -> None:
        await self._wait_for_step()
        await self.world.deliver(self.message)

    async def _wait_for_step(self) -> None:
        self._stopped_event.set()
        await self._step_permits.acquire()
        if self.is_killed:
            raise Crash


class Checkpoints:
    """A port around whose calls a worker pauses."""

    def __init__(self, worker: Worker, name: str) -> None:
        self._worker = worker
        self._name = name

    async def intercept(self, call: Any) -> Any:
        return await self._worker.intercept(self._name, call)


class Schedule:
    """One run: a client, the messages not handled yet, and the running workers."""

    def __init__(self, database: SqliteDatabase, model: EchoModel) -> None:
        self.database = database
        self.client = build_processing_fixture(database, model)
        self.messages: list[ChangeMessage] = []
        self.workers: list[Worker] = []
        self.last_version: Conversation | None = None

    async def write(self, number: int) -> None:
        self.last_version = VERSIONS[number]
        await (self.client.write(self.last_version) if self.last_version else self.client.delete())
        self.messages += await self.client.run_trigger()

    async def start(self, number: int) -> None:
        """Deliver a message, perhaps one that a worker is processing already."""
        if self.messages:
            message = self.messages[number % len(self.messages)]
            self.workers.append(Worker(self.database, self.client, message))

    async def step(self, number: int) -> None:
        if self.workers:
            worker = self.workers[number % len(self.workers)]
            for _ in range(1 + number // 8):
                if not worker.task.done():
                    await worker.step()
            if worker.task.done():
                await self._finish_worker(worker)

    async def run_to_index_write(self, number: int) -> None:
        if self.workers:
            worker = self.workers[number % len(self.workers)]
            await worker.run_to_index_write()
            if worker.task.done():
                await self._finish_worker(worker)

    async def overtake(self, number: int) -> None:
        """Let claims expire, then change the conversation and process it."""
        self.client.clock.advance(seconds=11)
        await self.write(number % len(VERSIONS))
        if self.messages:
            latest = Worker(self.database, self.client, self.messages[-1])
            self.workers.append(latest)
            await self._finish_worker(latest)

    async def kill(self, number: int) -> None:
        if self.workers:
            worker = self.workers[number % len(self.workers)]
            worker.is_killed = True
            await self._finish_worker(worker)

    async def wait(self, number: int) -> None:
        self.client.clock.advance(seconds=(1, 40, 121)[number % 3])

    async def run_to_end(self) -> None:
        while self.workers:
            await self._finish_worker(self.workers[0])
        self.client.clock.advance(seconds=11)
        await deliver_until_idle(self.client, *self.messages)

    async def _finish_worker(self, worker: Worker) -> None:
        """Do not repeat handled messages; repeat failed ones, even if they were handled before."""
        self.workers.remove(worker)
        if await worker.run_to_end():
            event("handled")
            self.messages = [m for m in self.messages if m is not worker.message]
        elif worker.message not in self.messages:
            event("failed after somebody else handled it")
            self.messages.append(worker.message)


RARE_ACTIONS = (
    Schedule.write, Schedule.start, Schedule.start, Schedule.kill, Schedule.wait,
    Schedule.run_to_index_write, Schedule.overtake,
)  # fmt: skip
TIME_ACTIONS = (Schedule.wait, Schedule.overtake)
"""The time that passes: in total less than the lifetime of an attempt."""
ACTIONS = st.tuples(
    st.sampled_from([*RARE_ACTIONS, *[Schedule.step] * 4]),
    st.integers(0, 63),
)


LATE_ROWS = [
    (Schedule.start, 0),
    (Schedule.run_to_index_write, 0),
    (Schedule.overtake, 1),
    (Schedule.step, 0),
]
"""A late attempt overwrites the rows of a newer version."""

DUPLICATE_DELIVERY = [
    (Schedule.write, 1),
    (Schedule.start, 0),
    (Schedule.start, 0),
    (Schedule.run_to_index_write, 0),
    (Schedule.wait, 2),
    (Schedule.step, 9),
    (Schedule.overtake, 0),
]
"""Two deliveries of one message: the one that lost its claim must not report success while the other fails."""


async def play(model: EchoModel, actions: list[Any]) -> tuple[Schedule, dict[str, Any]]:
    database = MemoryDatabase()
    schedule = Schedule(database, model)
    await schedule.write(0)
    time_action_count = 0
    for action, number in actions:
        if action is Schedule.write:
            await schedule.write(number % len(VERSIONS))
        elif action not in TIME_ACTIONS or (time_action_count := time_action_count + 1) < 5:
            await action(schedule, number)
    await schedule.run_to_end()
    end = await schedule.client.load_everything()
    database.close()
    return schedule, end


@pytest.fixture(scope="module", params=MODELS, ids=["all", "tasks"])
def model(request: pytest.FixtureRequest) -> EchoModel:
    chosen: EchoModel = request.param
    return chosen


@pytest.fixture(scope="module")
def expected_ends(model: EchoModel) -> dict[int, dict[str, Any]]:
    """The end state of each version alone."""

    async def compute_ends() -> dict[int, dict[str, Any]]:
        ends_by_number = {}
        for number, version in enumerate(VERSIONS):
            earlier_versions = () if version else (OLD,)
            ends_by_number[number] = await compute_expected_end(
                *earlier_versions, version, model=model
            )
        return ends_by_number

    return asyncio.run(compute_ends())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=st.lists(ACTIONS, min_size=5, max_size=60))
@example(actions=[*LATE_ROWS, (Schedule.kill, 0)])
@example(actions=DUPLICATE_DELIVERY)
@example(actions=[(Schedule.start, 0), *LATE_ROWS, (Schedule.kill, 1), (Schedule.kill, 0)])
async def test_every_schedule_ends_with_the_last_version_p29(model, expected_ends, actions):
    schedule, end = await play(model, actions)

    number = VERSIONS.index(schedule.last_version)
    assert end == expected_ends[number]
    if schedule.last_version:
        (conversation_fields,) = [f for p, f in end["documents"].items() if p.endswith("/talk")]
        assert conversation_fields["processed_hash"] == content_hash(schedule.last_version)
