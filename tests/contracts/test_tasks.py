"""Tasks: named once, called at their time; embedded, and through the client of Cloud Tasks."""

import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import grpc
import pytest

from infra.local.pump import Pump
from shared import telemetry
from shared.adapters.google_tasks import GoogleTasks
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_queue import Job, SqliteQueue, SqliteTasks
from shared.domain.errors import Unavailable
from shared.ports import Tasks
from tests.doubles import FixedClock
from tests.servers.cloud_tasks import QUEUE, FakeCloudTasks, fake_cloud_tasks

CALLER = "caller@demo.iam.gserviceaccount.com"
Calls = list[tuple[str, object]]


@dataclass
class World:
    """The port; `calls` runs what is due and tells of all that ran; how long an ended task's name is kept."""

    tasks: Tasks
    calls: Callable[[], Awaitable[Calls]]
    name_kept: timedelta


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def cloud(clock: FixedClock) -> Iterator[FakeCloudTasks]:
    with fake_cloud_tasks(clock) as server:
        yield server


@pytest.fixture(params=["sqlite", "google"])
def world(request: pytest.FixtureRequest, clock: FixedClock, tmp_path: Path) -> World:
    if request.param == "google":
        return _google(request.getfixturevalue("cloud"))
    return _sqlite(SqliteQueue(SqliteDatabase(tmp_path / "keepsake.db"), clock))


async def test_a_task_calls_its_target_with_its_body(world: World) -> None:
    await world.tasks.create("deliver", "n1", {"ids": ["a", "b"], "count": 2})

    assert await world.calls() == [("deliver", {"ids": ["a", "b"], "count": 2})]


async def test_a_task_waits_for_its_time(world: World, clock: FixedClock) -> None:
    await world.tasks.create("deliver", "n1", {}, at=clock.now() + timedelta(minutes=5))

    clock.pass_(seconds=299)
    early = await world.calls()
    clock.pass_(seconds=1)

    assert early == []
    assert len(await world.calls()) == 1


async def test_a_name_is_taken_while_its_task_waits(world: World, clock: FixedClock) -> None:
    await world.tasks.create("deliver", "n1", {}, at=clock.now() + timedelta(hours=3))

    clock.pass_(hours=2)
    await world.tasks.create("deliver", "n1", {})

    assert await world.calls() == []


async def test_a_name_is_taken_for_an_hour_or_more_after_its_task_ran(
    world: World, clock: FixedClock
) -> None:
    await world.tasks.create("deliver", "n1", {"n": 1})
    await world.calls()

    clock.pass_(minutes=59)
    await world.tasks.create("deliver", "n1", {"n": 2})
    await world.calls()
    clock.pass_(seconds=(world.name_kept - timedelta(minutes=59)).total_seconds())
    await world.tasks.create("deliver", "n1", {"n": 3})

    assert [body for _, body in await world.calls()] == [{"n": 1}, {"n": 3}]


async def test_a_name_is_taken_for_one_target_only(world: World) -> None:
    await world.tasks.create("deliver", "n1", {})
    await world.tasks.create("close_run", "n1", {})

    assert sorted(target for target, _ in await world.calls()) == ["close_run", "deliver"]


async def test_any_text_names_a_task(world: World) -> None:
    await world.tasks.create("deliver", "a/b c: é", {})

    assert len(await world.calls()) == 1


async def test_t16_cloud_tasks_calls_as_the_caller_for_the_function_s_audience(
    cloud: FakeCloudTasks,
) -> None:
    tasks = _google_tasks(cloud, audiences={"close_run": "https://close-run.example"})
    await tasks.create("deliver", "n1", {})
    await tasks.create("close_run", "n1", {})

    tokens = [task.http_request.oidc_token for task in cloud.take_due()]

    assert [(token.service_account_email, token.audience) for token in tokens] == [
        (CALLER, "deliver"),
        (CALLER, "https://close-run.example"),
    ]


async def test_c75_cloud_tasks_carries_the_trace_of_who_created_the_task(
    cloud: FakeCloudTasks,
) -> None:
    with telemetry.request("notifications"):
        trace = telemetry.trace()
        await _google_tasks(cloud).create("deliver", "n1", {})

    (task,) = cloud.take_due()

    assert task.http_request.headers.items() >= trace.items()


async def test_tasks_with_names_in_sequence_are_spread(cloud: FakeCloudTasks) -> None:
    tasks = _google_tasks(cloud)
    for n in range(20):
        await tasks.create("deliver", f"notification-{n}", {})

    ids = [task.name.rpartition("/")[2] for task in cloud.take_due()]

    assert len({task_id[:2] for task_id in ids}) > 10
    assert ids != sorted(ids)


@pytest.mark.parametrize(
    "failure",
    [
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.NOT_FOUND,
    ],
)
async def test_cloud_tasks_that_takes_no_task_is_unavailable(
    cloud: FakeCloudTasks, failure: grpc.StatusCode
) -> None:
    cloud.failure = failure

    with pytest.raises(Unavailable):
        await _google_tasks(cloud).create("deliver", "n1", {})


def _sqlite(queue: SqliteQueue) -> World:
    made: Calls = []

    async def take(job: Job) -> None:
        made.append((job.target, job.body))

    async def calls() -> Calls:
        await Pump(queue, take).drain()
        return made

    return World(SqliteTasks(queue), calls, name_kept=timedelta(hours=1))


def _google(cloud: FakeCloudTasks) -> World:
    made: Calls = []

    async def calls() -> Calls:
        for task in cloud.take_due():
            target = task.http_request.url.removeprefix("https://demo.example/")
            made.append((target, json.loads(task.http_request.body)))
        return made

    return World(_google_tasks(cloud), calls, name_kept=timedelta(hours=24))


def _google_tasks(cloud: FakeCloudTasks, audiences: dict[str, str] | None = None) -> GoogleTasks:
    return GoogleTasks(
        queue=QUEUE,
        url="https://demo.example/{}".format,
        caller=CALLER,
        audiences=audiences,
        address=cloud.address,
    )
