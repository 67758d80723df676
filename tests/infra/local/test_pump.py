"""The embedded world's deliveries: at least once, whatever fails."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from infra.local.pump import AT_ONCE, HttpDelivery, Pump
from shared.adapters.local_identity import LocalServiceIdentity
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_queue import (
    ATTEMPTS,
    DEAD_LETTERS,
    LEASE_S,
    Job,
    SqliteEvents,
    SqliteQueue,
    SqliteTasks,
    SqliteTriggers,
    backoff_s,
)
from shared.domain.errors import Unavailable
from tests.doubles import FixedClock

SECRET_WORDS = "we met Anna at the clinic"


@dataclass
class Receiver:
    """Takes deliveries; fails as often as told."""

    failures: int = 0
    jobs: list[Job] = field(default_factory=list)

    async def __call__(self, job: Job) -> None:
        self.jobs.append(job)
        if self.failures:
            self.failures -= 1
            raise Unavailable("status 503")

    @property
    def letters(self) -> list[Job]:
        return [job for job in self.jobs if job.name == DEAD_LETTERS]

    @property
    def targets(self) -> list[str]:
        return sorted(job.target for job in self.jobs)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def queue(tmp_path: Path, clock: FixedClock) -> SqliteQueue:
    return SqliteQueue(SqliteDatabase(tmp_path / "keepsake.db"), clock)


async def test_an_event_reaches_every_subscriber_once(queue: SqliteQueue) -> None:
    receiver = Receiver()
    await SqliteEvents(queue, {"memory.made": ["index", "tell"]}).publish(
        "memory.made", {"id": "m1"}
    )

    await Pump(queue, receiver).drain()

    assert receiver.targets == ["index", "tell"]
    assert {job.body["id"] for job in receiver.jobs} == {"m1"}


async def test_a_failed_delivery_comes_again_after_its_backoff(
    queue: SqliteQueue, clock: FixedClock
) -> None:
    receiver = Receiver(failures=1)
    pump = Pump(queue, receiver)
    await SqliteTasks(queue).create("remind", "t1", {})

    await pump.drain()
    clock.pass_(seconds=0.9)
    await pump.drain()
    early = len(receiver.jobs)
    clock.pass_(seconds=0.1)
    await pump.drain()

    assert early == 1
    assert [job.attempt for job in receiver.jobs] == [1, 2]
    assert len({job.id for job in receiver.jobs}) == 1


def test_the_backoff_doubles_up_to_a_minute() -> None:
    assert [backoff_s(attempt) for attempt in range(1, 9)] == [1, 2, 4, 8, 16, 32, 60, 60]


@pytest.mark.parametrize("kind", ["event", "task", "trigger"])
async def test_poison_ends_as_a_dead_letter_that_holds_nothing_private(
    queue: SqliteQueue, clock: FixedClock, kind: str
) -> None:
    await _put(queue, kind)
    receiver = Receiver(failures=ATTEMPTS)
    pump = Pump(queue, receiver)

    for _ in range(ATTEMPTS):
        await pump.drain()
        clock.pass_(seconds=60)
    await pump.drain()

    [job] = receiver.letters
    assert job.target == "bury"
    assert (job.body["kind"], job.body["reason"]) == (kind, "status 503")
    assert job.body["source"].endswith(".remind")
    assert (job.body["attempts"], job.body["first_at"]) == (ATTEMPTS, FixedClock().time)
    assert SECRET_WORDS not in str(job)
    assert SECRET_WORDS not in await _everything_stored(queue)


async def test_a_dead_letter_holds_the_ids_p29(queue: SqliteQueue, clock: FixedClock) -> None:
    event = {"id": "c1", "hash": None, "count": 3, "text": SECRET_WORDS}
    await SqliteEvents(queue, {"changed": ["remind"]}).publish("changed", event)
    receiver = Receiver(failures=ATTEMPTS)

    for _ in range(ATTEMPTS):
        await Pump(queue, receiver).drain()
        clock.pass_(seconds=60)

    [job] = receiver.letters
    assert job.body["ids"] == {"id": "c1", "hash": None, "count": 3}


async def test_a_dead_letter_that_cannot_be_delivered_brings_no_other(
    queue: SqliteQueue, clock: FixedClock
) -> None:
    await SqliteTasks(queue).create("remind", "t1", {})
    receiver = Receiver(failures=2 * ATTEMPTS)

    for _ in range(3 * ATTEMPTS):
        await Pump(queue, receiver).drain()
        clock.pass_(seconds=60)

    assert receiver.targets == ["bury"] * ATTEMPTS + ["remind"] * ATTEMPTS


async def test_a_job_of_a_crashed_worker_comes_again_when_its_lease_ends(
    queue: SqliteQueue, clock: FixedClock
) -> None:
    receiver = Receiver()
    await SqliteTasks(queue).create("remind", "t1", {})
    await queue.claim(1)

    await Pump(queue, receiver).drain()
    while_leased = len(receiver.jobs)
    clock.pass_(seconds=LEASE_S)
    await Pump(queue, receiver).drain()

    assert (while_leased, len(receiver.jobs)) == (0, 1)


async def test_who_lost_the_lease_can_no_longer_end_the_job(
    queue: SqliteQueue, clock: FixedClock
) -> None:
    await SqliteTasks(queue).create("remind", "t1", {})
    [stale] = await queue.claim(1)
    clock.pass_(seconds=LEASE_S)
    [current] = await queue.claim(1)

    await queue.ack(stale)
    await queue.retry(stale, "status 503")
    clock.pass_(seconds=LEASE_S)
    [again] = await queue.claim(1)

    assert (stale.fence, current.fence, again.fence) == (1, 2, 3)


async def test_an_extended_lease_holds_longer(queue: SqliteQueue, clock: FixedClock) -> None:
    await SqliteTasks(queue).create("remind", "t1", {})
    [job] = await queue.claim(1)
    clock.pass_(seconds=LEASE_S / 2)

    await queue.extend(job)
    clock.pass_(seconds=LEASE_S / 2)

    assert await queue.claim(1) == []


async def test_a_job_that_kills_its_worker_every_time_is_buried(
    queue: SqliteQueue, clock: FixedClock
) -> None:
    await SqliteTasks(queue).create("remind", "t1", {})

    for _ in range(ATTEMPTS):
        await queue.claim(1)
        clock.pass_(seconds=LEASE_S)

    [letter] = await queue.claim(9)
    assert (letter.name, letter.body["reason"]) == (DEAD_LETTERS, "no answer")


async def test_two_pumps_on_one_file_deliver_each_job_once(
    tmp_path: Path, clock: FixedClock
) -> None:
    queues = [SqliteQueue(SqliteDatabase(tmp_path / "keepsake.db"), clock) for _ in range(2)]
    receiver = Receiver()
    for n in range(50):
        await SqliteTasks(queues[0]).create("remind", f"t{n}", {})

    async with anyio.create_task_group() as group:
        for queue in queues:
            group.start_soon(Pump(queue, receiver).drain)

    assert len(receiver.jobs) == len({job.name for job in receiver.jobs}) == 50


async def test_waiting_ends_when_the_same_process_adds_a_job(queue: SqliteQueue) -> None:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(queue.wait, 3600)
            await anyio.wait_all_tasks_blocked()
            await SqliteTasks(queue).create("remind", "t1", {})


async def test_a_job_added_before_the_wait_is_not_slept_over(queue: SqliteQueue) -> None:
    await SqliteTasks(queue).create("remind", "t1", {})

    with anyio.fail_after(10):
        await queue.wait(3600)


async def test_a_running_pump_delivers_what_is_added_later(queue: SqliteQueue) -> None:
    delivered = anyio.Event()

    async def deliver(_: Job) -> None:
        delivered.set()

    async with anyio.create_task_group() as group:
        group.start_soon(Pump(queue, deliver).run)
        await anyio.wait_all_tasks_blocked()
        await SqliteTasks(queue).create("remind", "t1", {})
        with anyio.fail_after(10):
            await delivered.wait()
        group.cancel_scope.cancel()


async def test_a_target_gets_no_more_than_eight_deliveries_at_once(queue: SqliteQueue) -> None:
    running = 0
    most = 0
    crowded = anyio.Event()

    async def deliver(_: Job) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == AT_ONCE:
            crowded.set()
        await crowded.wait()
        running -= 1

    for n in range(20):
        await SqliteTasks(queue).create("remind", f"t{n}", {})
    await Pump(queue, deliver).drain()

    assert most == AT_ONCE


async def test_a_target_that_hangs_holds_up_no_other(queue: SqliteQueue) -> None:
    """T18: an app that takes half a minute to answer is not waited for by anything else."""
    arrived = anyio.Event()

    async def deliver(job: Job) -> None:
        if job.target == "remind":
            arrived.set()
        else:
            await anyio.sleep_forever()

    for n in range(20):
        await SqliteTasks(queue).create("deliver_webhook", f"t{n}", {})
    await SqliteTasks(queue).create("remind", "t", {})
    async with anyio.create_task_group() as group:
        group.start_soon(Pump(queue, deliver).run)
        with anyio.fail_after(10):
            await arrived.wait()
        group.cancel_scope.cancel()


async def test_a_stopped_pump_gives_back_what_it_had_in_flight(queue: SqliteQueue) -> None:
    started = anyio.Event()

    async def hang(_: Job) -> None:
        started.set()
        await anyio.sleep_forever()

    await SqliteTasks(queue).create("remind", "t1", {})
    async with anyio.create_task_group() as group:
        group.start_soon(Pump(queue, hang).run)
        await started.wait()
        group.cancel_scope.cancel()

    [job] = await queue.claim(1)
    assert job.attempt == 1


async def test_one_broken_delivery_does_not_stop_the_others(queue: SqliteQueue) -> None:
    done: list[str] = []

    async def deliver(job: Job) -> None:
        if job.name == "bad":
            raise ZeroDivisionError
        done.append(job.name)

    tasks = SqliteTasks(queue)
    for name in ("good", "bad", "also-good"):
        await tasks.create("remind", name, {})

    await Pump(queue, deliver).drain()

    assert sorted(done) == ["also-good", "good"]


async def test_a_delivery_is_posted_with_a_token_for_its_target(queue: SqliteQueue) -> None:
    services = LocalServiceIdentity(b"s" * 32)
    requests: list[httpx.Request] = []
    pump = _http_pump(queue, services, _answer(requests, 204))
    await SqliteTasks(queue).create("remind", "t1", {"id": "r1"})

    await pump.drain()

    [request] = requests
    scheme, _, token = request.headers["authorization"].partition(" ")
    await services.verify(token, "remind")
    assert (scheme, str(request.url)) == ("Bearer", "http://inside.test/remind")
    assert request.headers["x-cloudtasks-taskname"] == "t1"
    assert request.read() == b'{"id": "r1"}'


@pytest.mark.parametrize("status", [401, 404, 500, 503])
async def test_any_answer_but_success_means_again(
    queue: SqliteQueue, clock: FixedClock, status: int
) -> None:
    requests: list[httpx.Request] = []
    pump = _http_pump(queue, LocalServiceIdentity(b"s" * 32), _answer(requests, status))
    await SqliteTasks(queue).create("remind", "t1", {})

    await pump.drain()
    clock.pass_(seconds=1)
    await pump.drain()

    assert [r.headers["x-cloudtasks-taskretrycount"] for r in requests] == ["0", "1"]


def _answer(requests: list[httpx.Request], status: int) -> Callable[[httpx.Request], Any]:
    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(status)

    return answer


def _http_pump(
    queue: SqliteQueue, services: LocalServiceIdentity, answer: Callable[[httpx.Request], Any]
) -> Pump:
    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    url = "http://inside.test/{}".format
    return Pump(queue, HttpDelivery(client, services, url=url, project="demo"))


async def _put(queue: SqliteQueue, kind: str) -> None:
    if kind == "event":
        await SqliteEvents(queue, {"changed": ["remind"]}).publish("changed", {"id": "c1"})
    elif kind == "task":
        await SqliteTasks(queue).create("remind", "t1", {"text": SECRET_WORDS})
    else:
        triggers = SqliteTriggers(queue, {"notes/{id}": "remind"})
        await queue.database.write(
            lambda connection: triggers(connection, "notes/n1", None, {"text": SECRET_WORDS})
        )


async def _everything_stored(queue: SqliteQueue) -> str:
    return await queue.database.read(
        lambda connection: str(connection.execute("SELECT * FROM jobs").fetchall())
    )


async def test_what_a_crashed_holder_kept_is_due_at_once_after_a_restart(
    queue: SqliteQueue, clock: FixedClock
) -> None:
    tasks = SqliteTasks(queue)
    await tasks.create("chat", "held", {})
    held = await queue.claim(1)
    await tasks.create("chat", "for later", {}, at=clock.now() + timedelta(hours=1))

    await queue.recover()

    again = await queue.claim(9)
    assert [(job.name, job.attempt) for job in (*held, *again)] == [("held", 1), ("held", 2)]
