"""Tasks contract: one task a name, called at its time, embedded and by the client of Cloud Tasks."""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import grpc
import pytest

from infra.local.queue_worker import QueueWorker
from shared import telemetry
from shared.adapters.cloud.google_tasks import GoogleTasks
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_queue import Job, SqliteQueue, SqliteTasks
from shared.domain.errors import Unavailable
from shared.ports import Tasks
from tests.fakes import FixedClock
from tests.servers.cloud_tasks import QUEUE, FakeCloudTasks, fake_cloud_tasks

CALLER = "caller@demo.iam.gserviceaccount.com"
Calls = list[tuple[str, object]]


@dataclass
class TasksFixture:
    """The port; `calls` runs due tasks and returns all that ran; the TTL of an ended task's name."""

    tasks: Tasks
    run_due: Callable[[], Awaitable[Calls]]
    name_ttl: timedelta


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def cloud(clock: FixedClock) -> Iterator[FakeCloudTasks]:
    with fake_cloud_tasks(clock) as server:
        yield server


@pytest.fixture(params=["sqlite", "google"])
def world(request: pytest.FixtureRequest, clock: FixedClock, tmp_path: Path) -> TasksFixture:
    if request.param == "google":
        return _build_google(request.getfixturevalue("cloud"))
    return _build_sqlite(SqliteQueue(SqliteDatabase(tmp_path / "keepsake.db"), clock))


async def test_a_task_calls_its_target_with_its_body(world: TasksFixture) -> None:
    await world.tasks.create("deliver", "n1", {"ids": ["a", "b"], "count": 2})

    assert await world.run_due() == [("deliver", {"ids": ["a", "b"], "count": 2})]


async def test_a_task_waits_for_its_time(world: TasksFixture, clock: FixedClock) -> None:
    await world.tasks.create("deliver", "n1", {}, at=clock.now() + timedelta(minutes=5))

    clock.advance(seconds=299)
    early_calls = await world.run_due()
    clock.advance(seconds=1)

    assert early_calls == []
    assert len(await world.run_due()) == 1


async def test_a_task_name_is_reserved_while_its_task_waits(
    world: TasksFixture, clock: FixedClock
) -> None:
    await world.tasks.create("deliver", "n1", {}, at=clock.now() + timedelta(hours=3))

    clock.advance(hours=2)
    await world.tasks.create("deliver", "n1", {})

    assert await world.run_due() == []


async def test_a_task_name_stays_reserved_for_an_hour_after_its_task_ran(
    world: TasksFixture, clock: FixedClock
) -> None:
    await world.tasks.create("deliver", "n1", {"n": 1})
    await world.run_due()

    clock.advance(minutes=59)
    await world.tasks.create("deliver", "n1", {"n": 2})
    await world.run_due()
    clock.advance(seconds=(world.name_ttl - timedelta(minutes=59)).total_seconds())
    await world.tasks.create("deliver", "n1", {"n": 3})

    assert [body for _, body in await world.run_due()] == [{"n": 1}, {"n": 3}]


async def test_a_task_name_is_reserved_for_one_target_only(world: TasksFixture) -> None:
    await world.tasks.create("deliver", "n1", {})
    await world.tasks.create("close_run", "n1", {})

    assert sorted(target for target, _ in await world.run_due()) == ["close_run", "deliver"]


async def test_any_text_can_name_a_task(world: TasksFixture) -> None:
    await world.tasks.create("deliver", "a/b c: é", {})

    assert len(await world.run_due()) == 1


async def test_cloud_tasks_calls_as_the_caller_for_the_function_s_audience_t16(
    cloud: FakeCloudTasks,
) -> None:
    tasks = _build_google_tasks(cloud, audiences={"close_run": "https://close-run.example"})
    await tasks.create("deliver", "n1", {})
    await tasks.create("close_run", "n1", {})

    tokens = [task.http_request.oidc_token for task in cloud.finish_due_tasks()]

    assert [(token.service_account_email, token.audience) for token in tokens] == [
        (CALLER, "deliver"),
        (CALLER, "https://close-run.example"),
    ]


async def test_a_cloud_task_carries_the_trace_of_its_creator_c75(
    cloud: FakeCloudTasks,
) -> None:
    with telemetry.log_request("notifications"):
        trace = telemetry.get_trace_headers()
        await _build_google_tasks(cloud).create("deliver", "n1", {})

    (task,) = cloud.finish_due_tasks()

    assert task.http_request.headers.items() >= trace.items()


async def test_ids_of_sequential_task_names_are_spread(cloud: FakeCloudTasks) -> None:
    tasks = _build_google_tasks(cloud)
    for n in range(20):
        await tasks.create("deliver", f"notification-{n}", {})

    ids = [task.name.rpartition("/")[2] for task in cloud.finish_due_tasks()]

    assert len({task_id[:2] for task_id in ids}) > 10
    assert ids != sorted(ids)


async def test_tasks_are_spread_over_queues_and_a_name_is_taken_in_one_d10(
    cloud: FakeCloudTasks,
) -> None:
    queues = [QUEUE, f"{QUEUE}-2", f"{QUEUE}-3"]
    for instance in [_build_google_tasks(cloud, queues=queues) for _ in range(2)]:
        for n in range(60):
            await instance.create("deliver", f"notification-{n}", {})

    used = Counter(task.name.partition("/tasks/")[0] for task in cloud.finish_due_tasks())

    assert used.total() == 60
    assert all(used[queue] >= 10 for queue in queues)


@pytest.mark.parametrize(
    "failure",
    [
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.NOT_FOUND,
    ],
)
async def test_cloud_tasks_refusing_a_task_is_unavailable(
    cloud: FakeCloudTasks, failure: grpc.StatusCode
) -> None:
    cloud.failure = failure

    with pytest.raises(Unavailable):
        await _build_google_tasks(cloud).create("deliver", "n1", {})


def _build_sqlite(queue: SqliteQueue) -> TasksFixture:
    recorded_calls: Calls = []

    async def record_call(job: Job) -> None:
        recorded_calls.append((job.target, job.body))

    async def run_due() -> Calls:
        await QueueWorker(queue, record_call).drain()
        return recorded_calls

    return TasksFixture(SqliteTasks(queue), run_due, name_ttl=timedelta(hours=1))


def _build_google(cloud: FakeCloudTasks) -> TasksFixture:
    recorded_calls: Calls = []

    async def run_due() -> Calls:
        for task in cloud.finish_due_tasks():
            target = task.http_request.url.removeprefix("https://demo.example/")
            recorded_calls.append((target, json.loads(task.http_request.body)))
        return recorded_calls

    return TasksFixture(_build_google_tasks(cloud), run_due, name_ttl=timedelta(hours=24))


def _build_google_tasks(
    cloud: FakeCloudTasks,
    audiences: dict[str, str] | None = None,
    queues: Sequence[str] = (QUEUE,),
) -> GoogleTasks:
    return GoogleTasks(
        queues=queues,
        url="https://demo.example/{}".format,
        accounts=dict.fromkeys(("deliver", "close_run"), CALLER),
        audiences=audiences,
        address=cloud.address,
    )
