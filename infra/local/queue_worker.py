"""Queue worker: delivers the embedded queue's jobs over HTTP, as Eventarc and Cloud Tasks do."""

import math
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup

from infra.local.envelopes import build_envelope
from shared import telemetry
from shared.adapters.embedded.local_service_identity import LocalServiceIdentity
from shared.adapters.embedded.sqlite_queue import LEASE_S, MAX_ATTEMPTS, Job, SqliteQueue
from shared.domain.errors import Unavailable

if TYPE_CHECKING:
    import httpx

MAX_CONCURRENT_PER_TARGET = 8
"""Deliveries to one target at a time; a slow target delays no other."""
POLL_S = 0.25
"""How soon a job of another process is seen; our own wake the worker."""
TIMEOUT_S = 3_600.0
"""Longer than any handler works: it may wait for a model on this machine, and nobody else ends a request here.

One that were cut would begin the same answer again, for ever.
"""

Deliver = Callable[[Job], Awaitable[None]]
"""Returns when the job is done; raises when it must be repeated."""


class QueueWorker:
    """Claims due jobs and delivers a few at a time, each at least once."""

    def __init__(self, queue: SqliteQueue, deliver: Deliver) -> None:
        self._queue = queue
        self._deliver = deliver
        self._running = Counter[str]()
        self._is_reached = True

    async def run(self, *, idle_s: float = math.inf) -> None:
        """Deliver until cancelled or idle for `idle_s`; unfinished jobs return to the queue."""
        async with anyio.create_task_group() as deliveries:
            last_busy = anyio.current_time()
            while anyio.current_time() - last_busy < idle_s:
                if await self._start_due(deliveries):
                    last_busy = anyio.current_time()
                else:
                    await self._queue.wait(POLL_S)

    async def drain(self) -> None:
        """Deliver due jobs, and those that they add, until none is due."""
        started = True
        while started:
            async with anyio.create_task_group() as deliveries:
                started = await self._start_due(deliveries)

    async def _start_due(self, deliveries: TaskGroup) -> bool:
        """Start due jobs, as many at once as every target accepts that may be theirs."""
        started = False
        while jobs := await self._claim():
            for job in jobs:
                self._running[job.target] += 1
                deliveries.start_soon(self._handle, job)
            started = True
        return started

    async def _claim(self) -> list[Job]:
        full = [t for t, count in self._running.items() if count >= MAX_CONCURRENT_PER_TARGET]
        most = max((count for t, count in self._running.items() if t not in full), default=0)
        try:
            jobs = await self._queue.claim(MAX_CONCURRENT_PER_TARGET - most, skip_targets=full)
        except Unavailable as error:
            if self._is_reached:  # it is asked again soon; one line tells of the whole outage
                telemetry.warning("queue_unavailable", reason=str(error))
            self._is_reached = False
            return []
        self._is_reached = True
        return jobs

    async def _handle(self, job: Job) -> None:
        try:
            async with anyio.create_task_group() as extending:
                extending.start_soon(self._extend_lease, job)
                await self._attempt_delivery(job)
                extending.cancel_scope.cancel()
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._queue.release(job)
            raise
        finally:
            self._running[job.target] -= 1
            self._queue.wake()

    async def _attempt_delivery(self, job: Job) -> None:
        """Deliver and record the result; when the queue is too busy, the lease runs out."""
        with suppress(Unavailable):
            await self._deliver_and_finish(job)

    async def _deliver_and_finish(self, job: Job) -> None:
        try:
            await self._deliver(job)
        except Exception as error:  # noqa: BLE001  one bad job must not stop the others
            await self._record_failure(job, error)
        else:
            await self._queue.ack(job)

    async def _record_failure(self, job: Job, error: Exception) -> None:
        reason, wait_s = type(error).__name__, 0.0
        if isinstance(error, Unavailable):
            reason, wait_s = str(error), error.retry_after_s or 0.0
        outcome = "delivery_failed" if job.attempt < MAX_ATTEMPTS else "delivery_given_up"
        telemetry.warning(
            outcome, job=job.id, target=job.target, attempt=job.attempt, reason=reason
        )
        await self._queue.retry(job, reason, wait_s=wait_s)

    async def _extend_lease(self, job: Job) -> None:
        """Extend the lease for as long as the delivery takes."""
        while True:
            await anyio.sleep(LEASE_S / 3)
            with suppress(Unavailable):
                await self._queue.extend(job)


class HttpDelivery:
    """Posts a job to its entry point with a service token; anything but 2xx is Unavailable."""

    def __init__(
        self,
        client: "httpx.AsyncClient",
        service_identity: LocalServiceIdentity,
        *,
        url: Callable[[str], str],
        project: str,
    ) -> None:
        self._client = client
        self._service_identity = service_identity
        self._url = url
        self._project = project

    async def __call__(self, job: Job) -> None:
        headers, body = build_envelope(job, project=self._project)
        token = await self._service_identity.get_delivery_token(job.kind, job.target)
        headers["authorization"] = f"Bearer {token}"
        with anyio.fail_after(TIMEOUT_S):
            response = await self._client.post(
                self._url(job.target), headers=headers, content=body, timeout=None
            )
        if not response.is_success:
            wait_s = float(response.headers.get("Retry-After", 0))
            raise Unavailable(f"status {response.status_code}", retry_after_s=wait_s)
