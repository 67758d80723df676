"""Keeps a run in the store while it goes on: its beginning, its journal, its lease and its end."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import datetime

import anyio
from pydantic_core import to_json

from functions.chat.journal import Journal
from functions.chat.live import LiveRun
from shared import telemetry
from shared.data.runs import Runs
from shared.domain.chat import Message, Session
from shared.domain.errors import AlreadyExists, PreconditionFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.run import LEASE, Batch, Outcome, Run, RunEvent
from shared.ports import Clock

FLUSH_S = 0.5
PAUSES_S = (0.0, 0.2, 0.4, 0.8)
"""Before each attempt to write what must not be lost."""
TIMEOUT_S = 2.5
"""An attempt's time: what was not heard of by then is asked about."""
END_TIMEOUT_S = 8.0
"""All attempts at an end together: a process that has to go has ten seconds."""
MAX_BATCH_BYTES = 500_000
"""A document holds 1 MiB."""


class Lost(Exception):
    """The run is somebody else's: another process began it before, or closed it meanwhile."""


class Recorder:
    """Writes one run. Every write may be repeated: what stands there tells whose it is."""

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
        self._saved = 0

    async def begin(self, question: Message) -> None:
        """Store the question and the run. Raises Lost, Unavailable."""
        await self._insist(lambda: self._begin(question))

    async def keep(self, live: LiveRun) -> None:
        """Write what is new twice a second, and look whether somebody wants the run to end."""
        while True:
            await self._clock.sleep(FLUSH_S)
            try:
                with anyio.fail_after(TIMEOUT_S):
                    await self._flush()
                    await self._look(live)
            except (Lost, PreconditionFailed):
                return live.end("interrupted")
            except Exception as error:  # noqa: BLE001 - the next round tries again
                telemetry.warning("journal_not_kept", error=type(error).__name__)

    async def finish(self, answer: Message, outcome: Outcome) -> None:
        """Store the answer and the end. Raises Lost, Unavailable."""
        with anyio.move_on_after(END_TIMEOUT_S):
            return await self._insist(lambda: self._finish(answer, outcome))
        raise Unavailable("The answer could not be stored in time")

    async def _insist(self, write: Callable[[], Awaitable[None]]) -> None:
        """Write until it is known to have happened."""
        for pause_s in PAUSES_S:
            await self._clock.sleep(pause_s)
            with suppress(Unavailable), anyio.move_on_after(TIMEOUT_S):
                return await write()
        raise Unavailable("The store does not take what was said")

    async def _begin(self, question: Message) -> None:
        """Tell our own beginning, whose answer was lost, from another's."""
        try:
            await self._runs.begin(self._uid, self._run, self._session, question)
        except AlreadyExists:
            stored = await self._runs.get(self._uid, self._run.id, self._clock.now())
            if stored is None or stored.writer != self._run.writer:
                raise Lost from None

    async def _finish(self, answer: Message, outcome: Outcome) -> None:
        """Write what is not known to be stored until all of it is."""
        end = len(self._journal.events) + 1
        while self._saved != end:
            try:
                await self._runs.finish(
                    self._uid,
                    self._run,
                    answer,
                    outcome=outcome,
                    batches=list(self._batches(end)),
                )
                self._saved = end
            except AlreadyExists:
                await self._catch_up()
            except PreconditionFailed:  # deleted; what was written since then goes as well
                await self._runs.remove(self._uid, self._run.id)
                raise

    async def _flush(self) -> None:
        batches = list(self._batches())
        lease_until = self._renewed()
        if not batches and lease_until is None:
            return
        try:
            await self._runs.append(self._uid, self._run, *batches, lease_until=lease_until)
        except AlreadyExists:
            await self._catch_up()
        else:
            self._saved = batches[-1].last_seq if batches else self._saved
            self._lease_until = lease_until or self._lease_until

    async def _look(self, live: LiveRun) -> None:
        stored = await self._runs.get(self._uid, self._run.id, self._clock.now())
        if stored is None or stored.outcome is not None:
            raise Lost
        if stored.stop_requested:
            live.end("stopped")

    async def _catch_up(self) -> None:
        """Count what we wrote without hearing of it. Raises Lost where another's words stand."""
        before = self._saved
        while found := await self._runs.batch(self._uid, self._run.id, self._saved + 1):
            if found.writer != self._run.writer:
                raise Lost
            self._saved = found.last_seq
        if self._saved == before:
            raise Lost

    def _renewed(self) -> datetime | None:
        """Return the lease's new end when less than half of it is left."""
        now = self._clock.now()
        return now + LEASE if self._lease_until - now < LEASE / 2 else None

    def _batches(self, end: int | None = None) -> Iterator[Batch]:
        """Cut what is not saved yet into batches; with `end`, the last of them closes the journal."""
        position = self._saved + 1
        pieces = list(_cut(self._journal.events[self._saved :]))
        if end is not None and not pieces:
            pieces = [[]]
        for number, events in enumerate(pieces, 1):
            closing = end is not None and number == len(pieces)
            last_seq = position + len(events) - 1 + closing
            yield Batch(
                position=position,
                events=events,
                last_seq=last_seq,
                writer=self._run.writer,
                closing=closing,
            )
            position = last_seq + 1


def _cut(events: list[RunEvent]) -> Iterator[list[RunEvent]]:
    """Cut events into runs of at most MAX_BATCH_BYTES."""
    piece: list[RunEvent] = []
    size = 0
    for event in events:
        width = len(to_json(event))
        if piece and size + width > MAX_BATCH_BYTES:
            yield piece
            piece, size = [], 0
        piece.append(event)
        size += width
    if piece:
        yield piece
