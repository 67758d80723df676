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
from hypothesis import HealthCheck, event, given, settings
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
        self.world = world_on(
            database, TalkativeModel(), lambda _, port: Watched(port, self), clock=client.clock
        )
        self.task = asyncio.create_task(self._deliver())

    async def around(self, call: Any) -> Any:
        await self._stand()
        value = await call()
        await self._stand()
        return value

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


FEW = (Schedule.write, Schedule.start, Schedule.start, Schedule.kill, Schedule.wait)
ACTIONS = st.tuples(
    st.sampled_from([*FEW, *[Schedule.step] * 6]),
    st.integers(0, 63),
)


async def played(folder: Path, actions: list[Any]) -> tuple[Schedule, dict[str, Any]]:
    database = SqliteDatabase(folder / "keepsake.db")
    schedule = Schedule(database)
    await schedule.write(0)
    waits = 0
    for action, number in actions:
        if action is Schedule.write:
            await schedule.write(number % len(VERSIONS))
        elif action is not Schedule.wait or (waits := waits + 1) < 4:
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
async def test_whatever_the_schedule_the_end_is_that_of_the_last_version_p29(
    tmp_path_factory, wanted, actions
):
    schedule, end = await played(tmp_path_factory.mktemp("schedule"), actions)

    number = VERSIONS.index(schedule.last)
    assert end == wanted[number]
    if schedule.last:
        (stored,) = [f for p, f in end["documents"].items() if p.endswith("/talk")]
        assert stored["processed_hash"] == content_hash(schedule.last)
