"""Recorder of a run: stores its question, journal, lease and answer while the run goes on."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime

import anyio
from pydantic_core import to_json

from functions.chat.runs.journal import Journal
from functions.chat.runs.run_registry import ActiveRun
from shared import telemetry
from shared.data.chats.runs import Runs
from shared.domain.chats.chat import Fork, Message, Session
from shared.domain.chats.run import LEASE_TTL, Batch, JournalPlace, Outcome, Run, RunEvent, Signal
from shared.domain.errors import AlreadyExists, PreconditionFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.store.documents import Write
from shared.domain.store.sizes import split_by_size
from shared.ports import Clock
from shared.resilience.retry import retry

FLUSH_INTERVAL_S = 3.0
"""How often the recorder looks for signals; every second time the lease is due, and events are stored with it."""
FOLLOWED_INTERVAL_S = 0.5
"""How often events are stored once somebody follows from another process, and after a failed attempt."""
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
        self._end_seq: int | None = None
        self._rank = 0
        self._signals: set[Signal] = set()

    async def begin(self, question: Message, fork: Fork | None = None) -> None:
        """Store the question and the run. Raises OwnershipLost and Unavailable."""
        await self._write_with_retry(lambda: self._try_begin(question, fork))

    async def flush_periodically(self, active_run: ActiveRun) -> None:
        """Store new events, more often once somebody follows elsewhere, and end the run when told to."""
        interval_s = FLUSH_INTERVAL_S
        while True:
            await self._clock.sleep(interval_s)
            interval_s = FOLLOWED_INTERVAL_S
            try:
                with anyio.fail_after(ATTEMPT_TIMEOUT_S):
                    await self._flush()
            except (OwnershipLost, PreconditionFailed):
                return active_run.end("interrupted")
            except Exception as error:  # noqa: BLE001 - the next round tries again
                telemetry.warning("journal_not_kept", error=type(error).__name__)
                continue
            if "stop" in self._signals:
                return active_run.end("stopped")
            if "follow" not in self._signals:
                interval_s = FLUSH_INTERVAL_S

    async def finish(
        self, answer: Message, outcome: Outcome, *, also: Sequence[Write] = ()
    ) -> None:
        """Store the answer, the end and the writes `also`. Raises OwnershipLost and Unavailable.

        It may be called again after Unavailable; events that came after the first call are not stored.
        """
        end_seq = self._end_seq = self._end_seq or len(self._journal.events) + 1
        with anyio.move_on_after(FINISH_TIMEOUT_S):
            return await self._write_with_retry(
                lambda: self._try_finish(answer, outcome, also, end_seq)
            )
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

    async def _try_finish(
        self, answer: Message, outcome: Outcome, also: Sequence[Write], end_seq: int
    ) -> None:
        """Store the remaining events, the answer and the end."""
        while self._saved_seq != end_seq:
            try:
                await self._runs.finish(
                    self._uid,
                    self._run,
                    answer,
                    outcome=outcome,
                    batches=list(self._build_batches()),
                    also=also,
                )
                self._saved_seq = end_seq
            except AlreadyExists:
                await self._take_in_stored()
            except PreconditionFailed:  # the run was deleted: remove what was written since then
                await self._runs.remove(self._uid, self._run.id)
                raise

    async def _flush(self) -> None:
        """Look for what others wrote, which costs a read; store events where that is due."""
        if not self._is_due:
            while await self._take_in_next():
                pass
        if self._is_due:
            while not await self._try_append():
                await self._take_in_stored()

    @property
    def _is_due(self) -> bool:
        """Tell whether the lease is due, with which events are stored, or somebody waits for events."""
        has_events = self._saved_seq < len(self._journal.events)
        return self._compute_lease_end() is not None or ("follow" in self._signals and has_events)

    async def _try_append(self) -> bool:
        """Return False where a batch stands that we do not know."""
        batches = list(self._build_batches())
        lease_until = self._compute_lease_end()
        if not batches and lease_until is None:
            return True
        try:
            await self._runs.append(self._uid, self._run, *batches, lease_until=lease_until)
        except AlreadyExists:
            return False
        if batches:
            self._move_to(batches[-1].next_place)
        self._lease_until = lease_until or self._lease_until
        return True

    async def _take_in_stored(self) -> None:
        """Take in what stands where we wanted to write. Raises OwnershipLost where nothing does."""
        if not await self._take_in_next():
            raise OwnershipLost
        while await self._take_in_next():
            pass

    async def _take_in_next(self) -> bool:
        """Take in the next batch if there is one: a signal, or what we stored unnoticed.

        Raises OwnershipLost at the batch of another.
        """
        batch = await self._runs.get_batch(self._uid, self._run.id, self._place)
        if batch is None:
            return False
        if batch.signal is not None:
            self._signals.add(batch.signal)
        elif batch.writer != self._run.writer:
            raise OwnershipLost
        self._move_to(batch.next_place)
        return True

    @property
    def _place(self) -> JournalPlace:
        return JournalPlace(position=self._saved_seq + 1, rank=self._rank)

    def _move_to(self, place: JournalPlace) -> None:
        self._saved_seq, self._rank = place.position - 1, place.rank

    def _compute_lease_end(self) -> datetime | None:
        """Return the new end of the lease once less than half of it is left."""
        now = self._clock.now()
        return now + LEASE_TTL if self._lease_until - now < LEASE_TTL / 2 else None

    def _build_batches(self) -> Iterator[Batch]:
        """Split unsaved events into batches; at the end, the last batch closes the journal."""
        position, rank = self._saved_seq + 1, self._rank
        is_end = self._end_seq is not None
        stop = self._end_seq - 1 if self._end_seq is not None else None
        unsaved = self._journal.events[self._saved_seq : stop]
        pieces = list(split_by_size(unsaved, _count_bytes, MAX_BATCH_BYTES))
        if is_end and not pieces:
            pieces = [[]]
        for number, events in enumerate(pieces, 1):
            closing = is_end and number == len(pieces)
            last_seq = position + len(events) - 1 + closing
            yield Batch(
                position=position,
                rank=rank,
                events=events,
                last_seq=last_seq,
                writer=self._run.writer,
                closing=closing,
            )
            position, rank = last_seq + 1, 0


def compute_write_backoff_s(attempt: int, _: Unavailable) -> float:
    """Return 0.2, 0.4 and 0.8 s: without jitter, since no other process writes this run."""
    return 0.1 * 2.0**attempt


def _count_bytes(event: RunEvent) -> int:
    return len(to_json(event))
