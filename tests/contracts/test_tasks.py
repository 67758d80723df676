"""Tasks: named once, called at their time."""

from datetime import timedelta
from pathlib import Path

import pytest

from infra.local.pump import Pump
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_queue import Job, SqliteQueue, SqliteTasks
from shared.ports import Tasks
from tests.doubles import FixedClock


class Calls:
    """Runs what is due and remembers it."""

    def __init__(self, queue: SqliteQueue) -> None:
        self._pump = Pump(queue, self._take)
        self._jobs: list[Job] = []

    async def made(self) -> list[tuple[str, str, object]]:
        await self._pump.drain()
        return [(job.target, job.name, job.body) for job in self._jobs]

    async def _take(self, job: Job) -> None:
        self._jobs.append(job)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def queue(tmp_path: Path, clock: FixedClock) -> SqliteQueue:
    return SqliteQueue(SqliteDatabase(tmp_path / "keepsake.db"), clock)


@pytest.fixture
def tasks(queue: SqliteQueue) -> Tasks:
    return SqliteTasks(queue)


@pytest.fixture
def calls(queue: SqliteQueue) -> Calls:
    return Calls(queue)


async def test_a_task_calls_its_target_with_its_body(tasks: Tasks, calls: Calls) -> None:
    await tasks.create("deliver", "n1", {"ids": ["a", "b"], "count": 2})

    assert await calls.made() == [("deliver", "n1", {"ids": ["a", "b"], "count": 2})]


async def test_a_task_waits_for_its_time(tasks: Tasks, calls: Calls, clock: FixedClock) -> None:
    await tasks.create("deliver", "n1", {}, at=clock.now() + timedelta(minutes=5))

    clock.pass_(seconds=299)
    early = await calls.made()
    clock.pass_(seconds=1)

    assert early == []
    assert len(await calls.made()) == 1


async def test_a_name_is_taken_while_its_task_waits(
    tasks: Tasks, calls: Calls, clock: FixedClock
) -> None:
    await tasks.create("deliver", "n1", {}, at=clock.now() + timedelta(hours=3))

    clock.pass_(hours=2)
    await tasks.create("deliver", "n1", {})

    assert await calls.made() == []


async def test_a_name_is_free_an_hour_after_its_task_ran(
    tasks: Tasks, calls: Calls, clock: FixedClock
) -> None:
    await tasks.create("deliver", "n1", {"n": 1})
    await calls.made()

    clock.pass_(minutes=59)
    await tasks.create("deliver", "n1", {"n": 2})
    clock.pass_(minutes=1)
    await tasks.create("deliver", "n1", {"n": 3})

    assert [body for _, _, body in await calls.made()] == [{"n": 1}, {"n": 3}]


async def test_a_name_is_taken_for_one_target_only(tasks: Tasks, calls: Calls) -> None:
    await tasks.create("deliver", "n1", {})
    await tasks.create("close_run", "n1", {})

    assert sorted(target for target, _, _ in await calls.made()) == ["close_run", "deliver"]
