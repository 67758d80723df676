"""Recorder of a run: stores its question, journal, lease and answer while the run goes on."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime

import anyio
from pydantic_core import to_json

from functions.chat.runs.journal import Journal
from functions.chat.runs.run_registry import ActiveRun
from shared import telemetry
from shared.data.runs import Runs
from shared.domain.chat import Fork, Message, Session
from shared.domain.documents import Write
from shared.domain.errors import AlreadyExists, PreconditionFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.run import LEASE_TTL, Batch, Outcome, Run, RunEvent
from shared.domain.sizes import split_by_size
from shared.ports import Clock
from shared.resilience.retry import retry

FLUSH_INTERVAL_S = 0.5
MAX_WRITE_ATTEMPTS = 4
ATTEMPT_TIMEOUT_S = 2.5
"""Timeout of one attempt; the next one first checks whether the write happened."""
FINISH_TIMEOUT_S = 8.0
"""Timeout of all attempts to store the end: a process has ten seconds to shut down."""
MAX_BATCH_BYTES = 500_000
"""Maximum of one batch; a document holds 1 MiB."""


class OwnershipLost(Exception):
    """Another process began the run before, or closed it meanwhile."""


class Recorder:
    """Writes one run. Every write may be repeated: the stored `writer` says whose it is."""

    def __init__(
        self, runs: Runs, clock: Clock, uid: UserId, run: Run, session: Session, journal: Journal
    ) -> None:
        self._runs = runs
        self._clock = clock
        self._uid = uid
        self._run = run
        self._session = session
        self._journal = journal
        self._lease_until = run.lease_until
        self._saved_seq = 0

    async def begin(self, question: Message, fork: Fork | None = None) -> None:
        """Store the question and the run. Raises OwnershipLost and Unavailable."""
        await self._write_with_retry(lambda: self._try_begin(question, fork))

    async def flush_periodically(self, active_run: ActiveRun) -> None:
        """Store new events twice a second, and end the run when its stored state asks for it."""
        while True:
            await self._clock.sleep(FLUSH_INTERVAL_S)
            try:
                with anyio.fail_after(ATTEMPT_TIMEOUT_S):
                    await self._flush()
                    await self._check_stop(active_run)
            except (OwnershipLost, PreconditionFailed):
                return active_run.end("interrupted")
            except Exception as error:  # noqa: BLE001 - the next round tries again
                telemetry.warning("journal_not_kept", error=type(error).__name__)

    async def finish(
        self, answer: Message, outcome: Outcome, *, also: Sequence[Write] = ()
    ) -> None:
        """Store the answer, the end and the writes `also`. Raises OwnershipLost and Unavailable."""
        with anyio.move_on_after(FINISH_TIMEOUT_S):
            return await self._write_with_retry(lambda: self._try_finish(answer, outcome, also))
        raise Unavailable("The answer could not be stored in time")

    async def _write_with_retry(self, write: Callable[[], Awaitable[None]]) -> None:
        """Repeat a write until it is known to have happened. Raises Unavailable."""
        await retry(
            write,
            sleep=self._clock.sleep,
            attempts=MAX_WRITE_ATTEMPTS,
            timeout_s=ATTEMPT_TIMEOUT_S,
            backoff=compute_write_backoff_s,
        )

    async def _try_begin(self, question: Message, fork: Fork | None) -> None:
        """Store the beginning, unless an earlier attempt did. Raises OwnershipLost."""
        try:
            await self._runs.begin(self._uid, self._run, self._session, question, fork)
        except AlreadyExists:
            stored_run = await self._runs.get(self._uid, self._run.id, self._clock.now())
            if stored_run is None or stored_run.writer != self._run.writer:
                raise OwnershipLost from None

    async def _try_finish(self, answer: Message, outcome: Outcome, also: Sequence[Write]) -> None:
        """Store the remaining events, the answer and the end."""
        end_seq = len(self._journal.events) + 1
        while self._saved_seq != end_seq:
            try:
                await self._runs.finish(
                    self._uid,
                    self._run,
                    answer,
                    outcome=outcome,
                    batches=list(self._build_batches(end_seq)),
                    also=also,
                )
                self._saved_seq = end_seq
            except AlreadyExists:
                await self._sync_saved_seq()
            except PreconditionFailed:  # the run was deleted: remove what was written since then
                await self._runs.remove(self._uid, self._run.id)
                raise

    async def _flush(self) -> None:
        batches = list(self._build_batches())
        lease_until = self._compute_lease_end()
        if not batches and lease_until is None:
            return
        try:
            await self._runs.append(self._uid, self._run, *batches, lease_until=lease_until)
        except AlreadyExists:
            await self._sync_saved_seq()
        else:
            self._saved_seq = batches[-1].last_seq if batches else self._saved_seq
            self._lease_until = lease_until or self._lease_until

    async def _check_stop(self, active_run: ActiveRun) -> None:
        stored_run = await self._runs.get(self._uid, self._run.id, self._clock.now())
        if stored_run is None or stored_run.outcome is not None:
            raise OwnershipLost
        if stored_run.stop_requested:
            active_run.end("stopped")

    async def _sync_saved_seq(self) -> None:
        """Skip batches that we stored unnoticed. Raises OwnershipLost at the batch of another."""
        previous_seq = self._saved_seq
        while batch := await self._runs.get_batch(self._uid, self._run.id, self._saved_seq + 1):
            if batch.writer != self._run.writer:
                raise OwnershipLost
            self._saved_seq = batch.last_seq
        if self._saved_seq == previous_seq:
            raise OwnershipLost

    def _compute_lease_end(self) -> datetime | None:
        """Return the new end of the lease once less than half of it is left."""
        now = self._clock.now()
        return now + LEASE_TTL if self._lease_until - now < LEASE_TTL / 2 else None

    def _build_batches(self, end_seq: int | None = None) -> Iterator[Batch]:
        """Split unsaved events into batches; with `end_seq`, the last batch closes the journal."""
        position = self._saved_seq + 1
        pieces = list(
            split_by_size(self._journal.events[self._saved_seq :], _count_bytes, MAX_BATCH_BYTES)
        )
        if end_seq is not None and not pieces:
            pieces = [[]]
        for number, events in enumerate(pieces, 1):
            closing = end_seq is not None and number == len(pieces)
            last_seq = position + len(events) - 1 + closing
            yield Batch(
                position=position,
                events=events,
                last_seq=last_seq,
                writer=self._run.writer,
                closing=closing,
            )
            position = last_seq + 1


def compute_write_backoff_s(attempt: int, _: Unavailable) -> float:
    """Return 0.2, 0.4 and 0.8 s: without jitter, since no other process writes this run."""
    return 0.1 * 2.0**attempt


def _count_bytes(event: RunEvent) -> int:
    return len(to_json(event))
