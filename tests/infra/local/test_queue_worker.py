"""Queue worker of the embedded world: delivery at least once, whatever fails."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from infra.local.queue_worker import MAX_CONCURRENT_PER_TARGET, HttpDelivery, QueueWorker
from shared.adapters.embedded.local_service_identity import LocalServiceIdentity
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_queue import (
    DEAD_LETTERS_TOPIC,
    LEASE_S,
    MAX_ATTEMPTS,
    Job,
    SqliteEvents,
    SqliteQueue,
    SqliteTasks,
    SqliteTriggers,
    compute_backoff_s,
)
from shared.domain.errors import Unavailable
from tests.fakes import FixedClock
from tests.fixtures.callers import build_service_identity

PRIVATE_TEXT = "we met Anna at the clinic"


@dataclass
class FlakyReceiver:
    """A target that fails its first deliveries."""

    failures: int = 0
    retry_after_s: float | None = None
    jobs: list[Job] = field(default_factory=list)

    async def __call__(self, job: Job) -> None:
        self.jobs.append(job)
        if self.failures:
            self.failures -= 1
            raise Unavailable("status 503", retry_after_s=self.retry_after_s)

    @property
    def dead_letters(self) -> list[Job]:
        return [job for job in self.jobs if job.name == DEAD_LETTERS_TOPIC]

    @property
    def targets(self) -> list[str]:
        return sorted(job.target for job in self.jobs)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def queue(database: SqliteDatabase, clock: FixedClock) -> SqliteQueue:
    return SqliteQueue(database, clock)


async def test_an_event_is_delivered_to_every_subscriber_once(queue: SqliteQueue) -> None:
    receiver = FlakyReceiver()
    await SqliteEvents(queue, {"memory.made": ["index", "tell"]}).publish(
        "memory.made", {"id": "m1"}
    )

    await QueueWorker(queue, receiver).drain()

    assert receiver.targets == ["index", "tell"]
    assert {job.body["id"] for job in receiver.jobs} == {"m1"}


async def test_a_worker_that_has_nothing_to_do_ends(queue: SqliteQueue) -> None:
    receiver = FlakyReceiver()
    await SqliteEvents(queue, {"memory.made": ["index"]}).publish("memory.made", {})

    with anyio.fail_after(30):
        await QueueWorker(queue, receiver).run(idle_s=0.01)

    assert receiver.targets == ["index"]
    assert await queue.count_unfinished(1) == 0


async def test_due_and_claimed_jobs_are_counted_up_to_a_limit(
    queue: SqliteQueue, clock: FixedClock
) -> None:
    tasks = SqliteTasks(queue)
    for number in range(3):
        await tasks.create("index", f"t{number}", {})
    await tasks.create("index", "later", {}, at=clock.now() + timedelta(hours=1))

    await queue.claim(1)

    assert await queue.count_unfinished(10) == 3
    assert await queue.count_unfinished(2) == 2


async def test_a_failed_delivery_is_retried_after_its_backoff(
    queue: SqliteQueue, clock: FixedClock
) -> None:
    receiver = FlakyReceiver(failures=1)
    worker = QueueWorker(queue, receiver)
    await SqliteTasks(queue).create("remind", "t1", {})

    await worker.drain()
    clock.advance(seconds=0.9)
    await worker.drain()
    early_count = len(receiver.jobs)
    clock.advance(seconds=0.1)
    await worker.drain()

    assert early_count == 1
    assert [job.attempt for job in receiver.jobs] == [1, 2]
    assert len({job.id for job in receiver.jobs}) == 1


def test_the_backoff_doubles_up_to_a_minute() -> None:
    assert [compute_backoff_s(attempt) for attempt in range(1, 9)] == [1, 2, 4, 8, 16, 32, 60, 60]


@pytest.mark.parametrize("kind", ["event", "task", "trigger"])
async def test_a_poison_message_becomes_a_dead_letter_without_private_data(
    queue: SqliteQueue, clock: FixedClock, kind: str
) -> None:
    await _enqueue(queue, kind)
    receiver = FlakyReceiver(failures=MAX_ATTEMPTS)
    worker = QueueWorker(queue, receiver)

    for _ in range(MAX_ATTEMPTS):
        await worker.drain()
        clock.advance(seconds=60)
    await worker.drain()

    [job] = receiver.dead_letters
    assert job.target == "record_dead_letter"
    assert (job.body["kind"], job.body["reason"]) == (kind, "status 503")
    assert job.body["source"].endswith(".remind")
    assert (job.body["attempts"], job.body["first_at"]) == (MAX_ATTEMPTS, FixedClock().time)
    assert PRIVATE_TEXT not in str(job)
    assert PRIVATE_TEXT not in await _dump_jobs(queue)


async def test_a_dead_letter_holds_the_ids_p29(queue: SqliteQueue, clock: FixedClock) -> None:
    event = {"id": "c1", "hash": None, "count": 3, "text": PRIVATE_TEXT}
    await SqliteEvents(queue, {"changed": ["remind"]}).publish("changed", event)
    receiver = FlakyReceiver(failures=MAX_ATTEMPTS)

    for _ in range(MAX_ATTEMPTS):
        await QueueWorker(queue, receiver).drain()
        clock.advance(seconds=60)

    [job] = receiver.dead_letters
    assert job.body["ids"] == {"id": "c1", "hash": None, "count": 3}


async def test_an_undeliverable_dead_letter_creates_no_other(
    queue: SqliteQueue, clock: FixedClock
) -> None:
    await SqliteTasks(queue).create("remind", "t1", {})
    receiver = FlakyReceiver(failures=2 * MAX_ATTEMPTS)

    for _ in range(3 * MAX_ATTEMPTS):
        await QueueWorker(queue, receiver).drain()
        clock.advance(seconds=60)

    assert receiver.targets == ["record_dead_letter"] * MAX_ATTEMPTS + ["remind"] * MAX_ATTEMPTS


async def test_a_job_of_a_crashed_worker_is_redelivered_when_its_lease_ends(
    queue: SqliteQueue, clock: FixedClock
) -> None:
    receiver = FlakyReceiver()
    await SqliteTasks(queue).create("remind", "t1", {})
    await queue.claim(1)

    await QueueWorker(queue, receiver).drain()
    count_while_leased = len(receiver.jobs)
    clock.advance(seconds=LEASE_S)
    await QueueWorker(queue, receiver).drain()

    assert (count_while_leased, len(receiver.jobs)) == (0, 1)


async def test_a_stale_lease_holder_cannot_finish_the_job(
    queue: SqliteQueue, clock: FixedClock
) -> None:
    await SqliteTasks(queue).create("remind", "t1", {})
    [stale] = await queue.claim(1)
    clock.advance(seconds=LEASE_S)
    [current] = await queue.claim(1)

    await queue.ack(stale)
    await queue.retry(stale, "status 503")
    clock.advance(seconds=LEASE_S)
    [again] = await queue.claim(1)

    assert (stale.fence, current.fence, again.fence) == (1, 2, 3)


async def test_a_job_waits_for_as_long_as_its_target_says(
    queue: SqliteQueue, clock: FixedClock
) -> None:
    receiver = FlakyReceiver(failures=1, retry_after_s=9)
    await SqliteTasks(queue).create("remind", "t1", {})

    await QueueWorker(queue, receiver).drain()
    clock.advance(seconds=8)
    await QueueWorker(queue, receiver).drain()
    count_too_early = len(receiver.jobs)
    clock.advance(seconds=1)
    await QueueWorker(queue, receiver).drain()

    assert (count_too_early, len(receiver.jobs)) == (1, 2)


async def test_an_extended_lease_holds_longer(queue: SqliteQueue, clock: FixedClock) -> None:
    await SqliteTasks(queue).create("remind", "t1", {})
    [job] = await queue.claim(1)
    clock.advance(seconds=LEASE_S / 2)

    await queue.extend(job)
    clock.advance(seconds=LEASE_S / 2)

    assert await queue.claim(1) == []


async def test_a_job_that_kills_its_worker_every_time_becomes_a_dead_letter(
    queue: SqliteQueue, clock: FixedClock
) -> None:
    await SqliteTasks(queue).create("remind", "t1", {})

    for _ in range(MAX_ATTEMPTS):
        await queue.claim(1)
        clock.advance(seconds=LEASE_S)

    [letter] = await queue.claim(9)
    assert (letter.name, letter.body["reason"]) == (DEAD_LETTERS_TOPIC, "no answer")


async def test_two_workers_on_one_file_deliver_each_job_once(
    tmp_path: Path, clock: FixedClock
) -> None:
    queues = [SqliteQueue(SqliteDatabase(tmp_path / "keepsake.db"), clock) for _ in range(2)]
    receiver = FlakyReceiver()
    for n in range(50):
        await SqliteTasks(queues[0]).create("remind", f"t{n}", {})

    async with anyio.create_task_group() as group:
        for queue in queues:
            group.start_soon(QueueWorker(queue, receiver).drain)

    assert len(receiver.jobs) == len({job.name for job in receiver.jobs}) == 50


async def test_waiting_ends_when_the_same_process_adds_a_job(queue: SqliteQueue) -> None:
    with anyio.move_on_after(10) as limit:
        async with anyio.create_task_group() as group:
            group.start_soon(queue.wait, 3600)
            await anyio.wait_all_tasks_blocked()
            await SqliteTasks(queue).create("remind", "t1", {})

    assert not limit.cancelled_caught


async def test_a_job_added_before_the_wait_ends_it_at_once(queue: SqliteQueue) -> None:
    await SqliteTasks(queue).create("remind", "t1", {})

    with anyio.move_on_after(10) as limit:
        await queue.wait(3600)

    assert not limit.cancelled_caught


async def test_a_running_worker_delivers_jobs_added_later(queue: SqliteQueue) -> None:
    delivered, names = anyio.Event(), list[str]()

    async def deliver(job: Job) -> None:
        names.append(job.name)
        delivered.set()

    async with anyio.create_task_group() as group:
        group.start_soon(QueueWorker(queue, deliver).run)
        await anyio.wait_all_tasks_blocked()
        await SqliteTasks(queue).create("remind", "t1", {})
        with anyio.fail_after(10):
            await delivered.wait()
        group.cancel_scope.cancel()

    assert names == ["t1"]


async def test_a_target_gets_no_more_than_eight_deliveries_at_once(queue: SqliteQueue) -> None:
    running_count = 0
    max_running_count = 0
    crowded = anyio.Event()

    async def deliver(_: Job) -> None:
        nonlocal running_count, max_running_count
        running_count += 1
        max_running_count = max(max_running_count, running_count)
        if running_count == MAX_CONCURRENT_PER_TARGET:
            crowded.set()
        await crowded.wait()
        running_count -= 1

    for n in range(20):
        await SqliteTasks(queue).create("remind", f"t{n}", {})
    await QueueWorker(queue, deliver).drain()

    assert max_running_count == MAX_CONCURRENT_PER_TARGET


class CountedQueue(SqliteQueue):
    claims = 0

    async def claim(self, limit: int, *, skip_targets: Sequence[str] = ()) -> list[Job]:
        self.claims += 1
        return await super().claim(limit, skip_targets=skip_targets)


async def test_due_jobs_are_claimed_together_d11(
    database: SqliteDatabase, clock: FixedClock
) -> None:
    queue, receiver = CountedQueue(database, clock), FlakyReceiver()
    for n in range(MAX_CONCURRENT_PER_TARGET):
        await SqliteTasks(queue).create("remind", f"t{n}", {})

    await QueueWorker(queue, receiver).drain()

    assert len(receiver.jobs) == MAX_CONCURRENT_PER_TARGET
    assert queue.claims <= 3


async def test_a_hanging_target_delays_no_other(queue: SqliteQueue) -> None:
    """T18: an app that takes half a minute to answer delays nothing else."""
    arrived, arrivals = anyio.Event(), Counter[str]()

    async def deliver(job: Job) -> None:
        arrivals[job.target] += 1
        if job.target == "remind":
            arrived.set()
        else:
            await anyio.sleep_forever()

    for n in range(20):
        await SqliteTasks(queue).create("deliver_webhook", f"t{n}", {})
    await SqliteTasks(queue).create("remind", "t", {})
    async with anyio.create_task_group() as group:
        group.start_soon(QueueWorker(queue, deliver).run)
        with anyio.fail_after(10):
            await arrived.wait()
        group.cancel_scope.cancel()

    assert arrivals == {"deliver_webhook": MAX_CONCURRENT_PER_TARGET, "remind": 1}


async def test_a_stopped_worker_releases_its_jobs_in_flight(queue: SqliteQueue) -> None:
    started = anyio.Event()

    async def hang(_: Job) -> None:
        started.set()
        await anyio.sleep_forever()

    await SqliteTasks(queue).create("remind", "t1", {})
    async with anyio.create_task_group() as group:
        group.start_soon(QueueWorker(queue, hang).run)
        await started.wait()
        group.cancel_scope.cancel()

    [job] = await queue.claim(1)
    assert job.attempt == 1


async def test_one_broken_delivery_does_not_stop_the_others(queue: SqliteQueue) -> None:
    delivered_names: list[str] = []

    async def deliver(job: Job) -> None:
        if job.name == "bad":
            raise ZeroDivisionError
        delivered_names.append(job.name)

    tasks = SqliteTasks(queue)
    for name in ("good", "bad", "also-good"):
        await tasks.create("remind", name, {})

    await QueueWorker(queue, deliver).drain()

    assert sorted(delivered_names) == ["also-good", "good"]


async def test_a_delivery_is_posted_with_a_token_for_its_target(queue: SqliteQueue) -> None:
    services = build_service_identity("remind")
    requests: list[httpx.Request] = []
    worker = _build_http_worker(queue, services, _build_handler(requests, 204))
    await SqliteTasks(queue).create("remind", "t1", {"id": "r1"})

    await worker.drain()

    [request] = requests
    scheme, _, token = request.headers["authorization"].partition(" ")
    await services.verify(token, "remind")
    assert (scheme, str(request.url)) == ("Bearer", "http://inside.test/remind")
    assert request.headers["x-cloudtasks-taskname"] == "t1"
    assert request.read() == b'{"id": "r1"}'


@pytest.mark.parametrize("status", [401, 404, 500, 503])
async def test_any_status_but_success_is_retried(
    queue: SqliteQueue, clock: FixedClock, status: int
) -> None:
    requests: list[httpx.Request] = []
    worker = _build_http_worker(
        queue, build_service_identity("remind"), _build_handler(requests, status)
    )
    await SqliteTasks(queue).create("remind", "t1", {})

    await worker.drain()
    clock.advance(seconds=1)
    await worker.drain()

    assert [r.headers["x-cloudtasks-taskretrycount"] for r in requests] == ["0", "1"]


def _build_handler(requests: list[httpx.Request], status: int) -> Callable[[httpx.Request], Any]:
    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(status)

    return answer


def _build_http_worker(
    queue: SqliteQueue, services: LocalServiceIdentity, answer: Callable[[httpx.Request], Any]
) -> QueueWorker:
    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    url = "http://inside.test/{}".format
    return QueueWorker(queue, HttpDelivery(client, services, url=url, project="demo"))


async def _enqueue(queue: SqliteQueue, kind: str) -> None:
    if kind == "event":
        await SqliteEvents(queue, {"changed": ["remind"]}).publish("changed", {"id": "c1"})
    elif kind == "task":
        await SqliteTasks(queue).create("remind", "t1", {"text": PRIVATE_TEXT})
    else:
        triggers = SqliteTriggers(queue, {"notes/{id}": "remind"})
        await queue.database.write(
            lambda connection: triggers(connection, "notes/n1", None, {"text": PRIVATE_TEXT})
        )


async def _dump_jobs(queue: SqliteQueue) -> str:
    return await queue.database.read(
        lambda connection: str(connection.execute("SELECT * FROM jobs").fetchall())
    )


async def test_jobs_leased_by_a_crashed_process_are_due_at_once_after_a_restart(
    queue: SqliteQueue, clock: FixedClock
) -> None:
    tasks = SqliteTasks(queue)
    await tasks.create("chat", "held", {})
    claimed = await queue.claim(1)
    await tasks.create("chat", "for later", {}, at=clock.now() + timedelta(hours=1))

    await queue.recover()

    again = await queue.claim(9)
    assert [(job.name, job.attempt) for job in (*claimed, *again)] == [("held", 1), ("held", 2)]
