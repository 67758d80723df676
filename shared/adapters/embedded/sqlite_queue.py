"""Queue of the embedded world: events, tasks and triggers, stored until they are delivered.

Also called: message queue, job queue, worker.
"""

import asyncio
import re
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import anyio

from shared import telemetry
from shared.adapters.document_json import dumps, loads
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.domain.store.dead_letter import Kind, extract_ids
from shared.domain.store.documents import Fields
from shared.domain.value import value
from shared.ports import Clock

LEASE_S = 30.0
MAX_ATTEMPTS = 10
MAX_BACKOFF_S = 60.0
NAME_TTL_S = 3600.0
"""How long a task's name stays reserved after its end, as in Cloud Tasks."""

SCHEMA = f"""
CREATE TABLE IF NOT EXISTS jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    trace TEXT NOT NULL,
    created REAL NOT NULL,
    due REAL NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    ended REAL
);
CREATE INDEX IF NOT EXISTS jobs_waiting ON jobs (due, id, target) WHERE ended IS NULL;
CREATE INDEX IF NOT EXISTS jobs_lost ON jobs (due) WHERE ended IS NULL AND attempt >= {MAX_ATTEMPTS};
DROP INDEX IF EXISTS jobs_due;
CREATE INDEX IF NOT EXISTS jobs_ended ON jobs (ended) WHERE ended IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS jobs_task ON jobs (target, name) WHERE kind = 'task'
"""

CLAIM = """
UPDATE jobs SET due = ?, attempt = attempt + 1, fence = fence + 1
WHERE id IN (
  SELECT id FROM jobs
  WHERE ended IS NULL AND due <= ? AND target NOT IN (SELECT value FROM json_each(?))
  ORDER BY due, id LIMIT ?
)
RETURNING id, kind, target, name, body, trace, created, attempt, fence
"""

# The number of attempts is no parameter: SQLite would not see that the index holds all such jobs.
SELECT_LOST = f"""
SELECT id, kind, target, name, body, trace, created, attempt, fence FROM jobs
WHERE ended IS NULL AND due <= ? AND attempt >= {MAX_ATTEMPTS}
"""  # noqa: S608 - our number

COUNT_UNFINISHED = "SELECT 1 FROM jobs WHERE ended IS NULL AND due <= ? LIMIT ?"

DELETE_ABOUT = """
DELETE FROM jobs
WHERE substr(name, 1, length(:folder)) = :folder
  OR nullif(body, '') ->> '$.uid' = :uid
  OR nullif(body, '') ->> '$.ids.uid' = :uid
  OR substr(nullif(body, '') ->> '$.source', 1, length(:folder)) = :folder
"""

DEAD_LETTERS_TOPIC = "dead_letters"
"""The topic of dead letters."""


@value
class Job:
    """One delivery. `name` is the topic, the task's name or the document's path.

    `trace` continues the trace of the publisher. `id` is the same on every attempt; `fence` names
    one claim, and only the latest may end the job.
    """

    id: int
    kind: Kind
    target: str
    name: str
    body: Mapping[str, Any]
    trace: Mapping[str, str]
    created_at: datetime
    attempt: int
    fence: int


class SqliteQueue:
    """The consumer's side; several processes may claim from one file, and each job has one holder.

    A claim is a lease: a holder that neither ends nor extends it in time has crashed, and the job
    comes again. Dead letters go to the entry point `record_dead_letter`, as Pub/Sub forwards them.
    """

    def __init__(
        self,
        database: SqliteDatabase,
        clock: Clock,
        *,
        dead_letter_target: str = "record_dead_letter",
    ) -> None:
        database.add_schema(SCHEMA)
        self.database = database
        self._clock = clock
        self._dead_letter_target = dead_letter_target
        self._wakeup = _Wakeup()

    async def claim(self, limit: int, *, skip_targets: Sequence[str] = ()) -> list[Job]:
        """Claim up to `limit` due jobs, oldest first.

        Jobs without attempts left become dead letters; jobs for `skip_targets` are left for later.
        """
        now = self._now()

        def work(connection: sqlite3.Connection) -> list[Job]:
            self._send_lost_to_dead_letters(connection, now)
            return _claim(connection, now, limit, skip_targets)

        return await self.database.write(work, is_brief=True)

    async def count_unfinished(self, limit: int) -> int:
        """Count the jobs that are due or claimed, up to `limit`."""
        values = (self._now() + LEASE_S, limit)
        return len(
            await self.database.read(lambda c: c.execute(COUNT_UNFINISHED, values).fetchall())
        )

    async def ack(self, job: Job) -> None:
        """Complete a job."""
        now = self._now()
        await self.database.write(lambda connection: _end(connection, job, now), is_brief=True)

    async def retry(self, job: Job, reason: str, *, wait_s: float = 0.0) -> None:
        """Reschedule a job after 1, 2, 4 … 60 s, and not before `wait_s` have passed.

        After its last attempt it becomes a dead letter.
        """
        now = self._now()
        if job.attempt >= MAX_ATTEMPTS:
            await self.database.write(
                lambda connection: self._send_to_dead_letters(connection, job, reason, now)
            )
        else:
            await self._reschedule(job, now + max(wait_s, compute_backoff_s(job.attempt)))

    async def extend(self, job: Job) -> None:
        """Extend the lease of a job."""
        await self._reschedule(job, self._now() + LEASE_S)

    async def release(self, job: Job) -> None:
        """Release a job as if it had not been claimed."""
        await self._reschedule(job, self._now(), attempt=job.attempt - 1)
        self.wake()

    async def recover(self) -> None:
        """Make the jobs of a crashed holder due; only for the sole consumer, at its start."""
        now = self._now()
        sql = "UPDATE jobs SET due = ? WHERE ended IS NULL AND attempt > 0 AND due > ?"
        await self.database.write(lambda connection: connection.execute(sql, (now, now)))

    async def delete_about(self, uid: str) -> int:
        """Delete all messages about a user, delivered or not; return how many there were.

        A message names its user in its body, a trigger in the path of its document. Ended tasks have
        no body, and names that name nobody.
        """
        values = {"uid": uid, "folder": f"users/{uid}/"}
        return await self.database.write(
            lambda connection: connection.execute(DELETE_ABOUT, values).rowcount
        )

    async def wait(self, timeout_s: float) -> None:
        """Wait until this process adds a job or `timeout_s` has passed."""
        await self._wakeup.wait(timeout_s)

    def wake(self) -> None:
        """Wake all waiters; safe from any thread."""
        self._wakeup.wake()

    def put(
        self,
        connection: sqlite3.Connection,
        kind: Kind,
        target: str,
        name: str,
        body: Mapping[str, Any],
        *,
        at: datetime | None = None,
    ) -> None:
        """Add a job within the caller's transaction, unless a task of this name exists.

        Waiters wake before the commit; a claim waits for its turn to write, so it sees the job.
        """
        now = self._now()
        due = at.timestamp() if at else now
        connection.execute("DELETE FROM jobs WHERE ended <= ?", (now - NAME_TTL_S,))
        connection.execute(
            "INSERT OR IGNORE INTO jobs (kind, target, name, body, trace, created, due) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (kind, target, name, dumps(body), dumps(telemetry.get_trace_headers()), now, due),
        )
        self.wake()

    def _send_to_dead_letters(
        self, connection: sqlite3.Connection, job: Job, reason: str, now: float
    ) -> None:
        """Turn a job that is still ours into a dead letter; only the ids of its body are stored."""
        if not _end(connection, job, now) or job.target == self._dead_letter_target:
            return
        letter = {
            "kind": job.kind,
            "source": f"{job.name}.{job.target}",
            "ids": dict(extract_ids(job.body)),
            "reason": reason,
            "attempts": job.attempt,
            "first_at": job.created_at,
        }
        self.put(connection, "event", self._dead_letter_target, DEAD_LETTERS_TOPIC, letter)

    def _send_lost_to_dead_letters(self, connection: sqlite3.Connection, now: float) -> None:
        """Turn jobs whose holder crashed on the last attempt into dead letters.

        The job may be the cause.
        """
        rows = connection.execute(SELECT_LOST, (now,)).fetchall()
        for row in rows:
            self._send_to_dead_letters(connection, _to_job(*row), "no answer", now)

    async def _reschedule(self, job: Job, due: float, *, attempt: int | None = None) -> None:
        sql = "UPDATE jobs SET due = ?, attempt = ? WHERE id = ? AND fence = ?"
        values = (due, job.attempt if attempt is None else attempt, job.id, job.fence)
        await self.database.write(lambda connection: connection.execute(sql, values))

    def _now(self) -> float:
        return self._clock.now().timestamp()


class SqliteEvents:
    """Events as one job a subscriber; an undeclared topic is a bug: KeyError."""

    def __init__(self, queue: SqliteQueue, topics: Mapping[str, Sequence[str]]) -> None:
        self._queue = queue
        self._topics = topics

    async def publish(self, topic: str, event: Mapping[str, Any]) -> None:
        targets = self._topics[topic]
        if not targets:
            return

        def work(connection: sqlite3.Connection) -> None:
            for target in targets:
                self._queue.put(connection, "event", target, topic, event)

        await self._queue.database.write(work, is_brief=True)


class SqliteTasks:
    """Tasks as jobs with a name of their own and a time."""

    def __init__(self, queue: SqliteQueue) -> None:
        self._queue = queue

    async def create(
        self, target: str, name: str, body: Mapping[str, Any], *, at: datetime | None = None
    ) -> None:
        await self._queue.database.write(
            lambda connection: self._queue.put(connection, "task", target, name, body, at=at),
            is_brief=True,
        )


class SqliteTriggers:
    """Adds a job for each changed document, in the transaction that changes it."""

    def __init__(self, queue: SqliteQueue, triggers: Mapping[str, str]) -> None:
        self._queue = queue
        self._targets = [(_compile_pattern(path), target) for path, target in triggers.items()]

    def __call__(
        self, connection: sqlite3.Connection, path: str, old: Fields | None, new: Fields | None
    ) -> None:
        """Add jobs for a write that changed a document."""
        if old == new:
            return
        for pattern, target in self._targets:
            if pattern.fullmatch(path):
                self._queue.put(connection, "trigger", target, path, {"old": old, "new": new})


def compute_backoff_s(attempt: int) -> float:
    """Seconds to wait after a failed attempt: 1, 2, 4 … at most 60."""
    return min(2.0 ** (attempt - 1), MAX_BACKOFF_S)


class _Wakeup:
    """Wakes waiters from any thread; a wakeup without a waiter ends the next wait at once."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def wake(self) -> None:
        if self._loop is None:
            self._event.set()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._event.set)

    async def wait(self, timeout_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        with anyio.move_on_after(timeout_s):
            await self._event.wait()
        self._event.clear()


def _compile_pattern(path: str) -> re.Pattern[str]:
    """`users/{uid}/notes/{id}` matches one segment for each name in braces."""
    return re.compile(re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(path)))


def _claim(
    connection: sqlite3.Connection, now: float, limit: int, skip_targets: Sequence[str]
) -> list[Job]:
    values = (now + LEASE_S, now, dumps(skip_targets), limit)
    rows = connection.execute(CLAIM, values).fetchall()
    return [_to_job(*row) for row in sorted(rows)]


def _to_job(id_: int, kind: Kind, target: str, name: str, body: str, *rest: Any) -> Job:
    trace, created, attempt, fence = rest
    return Job(
        id=id_,
        kind=kind,
        target=target,
        name=name,
        body=loads(body),
        trace=loads(trace),
        created_at=datetime.fromtimestamp(created, UTC),
        attempt=attempt,
        fence=fence,
    )


def _end(connection: sqlite3.Connection, job: Job, now: float) -> bool:
    """End a job that is still ours.

    The row of a task stays without its body, to reserve its name.
    """
    claim = (job.id, job.fence)
    if job.kind == "task":
        sql = "UPDATE jobs SET ended = ?, body = '' WHERE ended IS NULL AND id = ? AND fence = ?"
        return connection.execute(sql, (now, *claim)).rowcount > 0
    return connection.execute("DELETE FROM jobs WHERE id = ? AND fence = ?", claim).rowcount > 0
