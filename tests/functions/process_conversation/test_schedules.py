"""P29: edits, deletes, repeats, crashes, expired leases and workers that interleave: one end state.

A schedule moves workers forward from one call of a port to the next, in any order, and kills some of
them there. Afterwards what failed is delivered again until all is quiet.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from shared.adapters.sqlite_database import SqliteDatabase
from shared.domain.conversation import Conversation, content_hash
from shared.domain.errors import Unavailable
from tests.functions.process_conversation.test_interruptions import (
    NEW,
    OLD,
    Crash,
    TalkativeModel,
    Watched,
    run_to_the_end,
    undisturbed,
)
from tests.functions.process_conversation.world import World, talk, world_on

VERSIONS: tuple[Conversation | None, ...] = (OLD, NEW, talk("More words.", "And more."), None)
Message = Mapping[str, Any]


class Worker:
    """Delivers one message, and stands still before and after each call until told to go on."""

    def __init__(self, database: SqliteDatabase, client: World, message: Message) -> None:
        self.message = message
        self.killed = False
        self._may_go = asyncio.Semaphore(0)
        self._arrived = asyncio.Event()
        self._port = ""
        self.world = world_on(database, TalkativeModel(), self._watched, clock=client.clock)
        self.task = asyncio.create_task(self._deliver())

    def _watched(self, name: str, port: Any) -> Any:
        return Watched(port, Stops(self, name))

    async def around(self, name: str, call: Any) -> Any:
        self._port = name
        await self._stand()
        value = await call()
        self._port = ""
        await self._stand()
        return value

    async def to_the_index(self) -> None:
        """Go on until the next thing to happen is a write to the index."""
        while self._port != "vectors" and not self.task.done():
            await self.step()

    async def step(self) -> None:
        """Go on to the next stop, or to the end."""
        self._arrived.clear()
        self._may_go.release()
        arrival = asyncio.create_task(self._arrived.wait())
        await asyncio.wait({arrival, self.task}, return_when=asyncio.FIRST_COMPLETED)
        arrival.cancel()

    async def end(self) -> bool:
        """Go on to the end; tell whether the message was handled."""
        while not self.task.done():
            await self.step()
        with suppress(Crash, Unavailable):
            await self.task
            return True
        return False

    async def _deliver(self) -> None:
        await self._stand()
        await self.world.deliver(self.message)

    async def _stand(self) -> None:
        self._arrived.set()
        await self._may_go.acquire()
        if self.killed:
            raise Crash


class Stops:
    """Lets a worker stand still around the calls of one port."""

    def __init__(self, worker: Worker, name: str) -> None:
        self._worker = worker
        self._name = name

    async def around(self, call: Any) -> Any:
        return await self._worker.around(self._name, call)


class Schedule:
    """One run: a client, the messages that were not handled yet, and who is at work."""

    def __init__(self, database: SqliteDatabase) -> None:
        self.database = database
        self.client = world_on(database, TalkativeModel())
        self.messages: list[Message] = []
        self.workers: list[Worker] = []
        self.last: Conversation | None = None

    async def write(self, number: int) -> None:
        self.last = VERSIONS[number]
        await (self.client.write(self.last) if self.last else self.client.delete())
        self.messages += await self.client.tell()

    async def start(self, number: int) -> None:
        """Deliver a message, maybe one that somebody works on already."""
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
                await self._ended(worker)

    async def to_the_index(self, number: int) -> None:
        if self.workers:
            worker = self.workers[number % len(self.workers)]
            await worker.to_the_index()
            if worker.task.done():
                await self._ended(worker)

    async def overtake(self, number: int) -> None:
        """Let claims expire, and somebody change the conversation and have it processed."""
        self.client.clock.pass_(seconds=121)
        await self.write(number % len(VERSIONS))
        if self.messages:
            latest = Worker(self.database, self.client, self.messages[-1])
            self.workers.append(latest)
            await self._ended(latest)

    async def kill(self, number: int) -> None:
        if self.workers:
            worker = self.workers[number % len(self.workers)]
            worker.killed = True
            await self._ended(worker)

    async def wait(self, number: int) -> None:
        self.client.clock.pass_(seconds=(1, 40, 121)[number % 3])

    async def end(self) -> None:
        while self.workers:
            await self._ended(self.workers[0])
        self.client.clock.pass_(seconds=121)
        await run_to_the_end(self.client, *self.messages)

    async def _ended(self, worker: Worker) -> None:
        """What was handled does not come again; what failed does, also if it was handled before."""
        self.workers.remove(worker)
        if await worker.end():
            event("handled")
            self.messages = [m for m in self.messages if m is not worker.message]
        elif worker.message not in self.messages:
            event("failed after somebody else handled it")
            self.messages.append(worker.message)


FEW = (
    Schedule.write, Schedule.start, Schedule.start, Schedule.kill, Schedule.wait,
    Schedule.to_the_index, Schedule.overtake,
)  # fmt: skip
PASSING = (Schedule.wait, Schedule.overtake)
"""Time passes: together less than an attempt may live."""
ACTIONS = st.tuples(
    st.sampled_from([*FEW, *[Schedule.step] * 4]),
    st.integers(0, 63),
)


LATE = [(Schedule.start, 0), (Schedule.to_the_index, 0), (Schedule.overtake, 1), (Schedule.step, 0)]
"""Somebody writes rows over those of a newer version."""

TWICE = [
    (Schedule.write, 1),
    (Schedule.start, 0),
    (Schedule.start, 0),
    (Schedule.to_the_index, 0),
    (Schedule.wait, 2),
    (Schedule.step, 9),
    (Schedule.overtake, 0),
]
"""One message is delivered twice; who is overtaken must not call it handled while the other fails."""


async def played(folder: Path, actions: list[Any]) -> tuple[Schedule, dict[str, Any]]:
    database = SqliteDatabase(folder / "keepsake.db")
    schedule = Schedule(database)
    await schedule.write(0)
    waits = 0
    for action, number in actions:
        if action is Schedule.write:
            await schedule.write(number % len(VERSIONS))
        elif action not in PASSING or (waits := waits + 1) < 5:
            await action(schedule, number)
    await schedule.end()
    end = await schedule.client.everything()
    database.close()
    return schedule, end


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> dict[int, dict[str, Any]]:
    """What each version alone leads to."""
    folder = tmp_path_factory.mktemp("wanted")

    async def ends() -> dict[int, dict[str, Any]]:
        found = {}
        for number, version in enumerate(VERSIONS):
            (folder / str(number)).mkdir()
            before = () if version else (OLD,)
            found[number] = await undisturbed(folder / str(number), *before, version)
        return found

    return asyncio.run(ends())


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(actions=st.lists(ACTIONS, min_size=5, max_size=60))
@example(actions=[*LATE, (Schedule.kill, 0)])
@example(actions=TWICE)
@example(actions=[(Schedule.start, 0), *LATE, (Schedule.kill, 1), (Schedule.kill, 0)])
async def test_whatever_the_schedule_the_end_is_that_of_the_last_version_p29(
    tmp_path_factory, wanted, actions
):
    schedule, end = await played(tmp_path_factory.mktemp("schedule"), actions)

    number = VERSIONS.index(schedule.last)
    assert end == wanted[number]
    if schedule.last:
        (stored,) = [f for p, f in end["documents"].items() if p.endswith("/talk")]
        assert stored["processed_hash"] == content_hash(schedule.last)
