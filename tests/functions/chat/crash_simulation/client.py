"""Client of the simulation: asks once, with a key, and reconnects until the end."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from anyio.abc import TaskGroup

from functions.chat.runs.journal import Journal
from functions.chat.runs.run_events import stream_events
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.idempotency import DuplicateQuestion, IdempotencyKey
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.domain.chats.run import RunEnded, SequencedEvent
from shared.domain.errors import NotFound, Unavailable
from tests.fakes import FixedClock
from tests.fixtures.chat import ADA
from tests.functions.chat.crash_simulation.process import SimulatedProcess

KEY = IdempotencyKey(text="k1", fingerprint="f1")
RUN_ID = KEY.run_id(ADA)
PAUSE_S = 0.25
ATTEMPTS = 400

Events = AsyncGenerator[SequencedEvent, None]


@dataclass
class Client:
    """Uses its processes in turn; each of `cuts` ends one connection after that many events."""

    processes: tuple[SimulatedProcess, SimulatedProcess]
    tasks: TaskGroup
    clock: FixedClock
    cuts: tuple[int, ...] = ()
    received_events: list[SequencedEvent] = field(default_factory=list)

    async def ask(self) -> None:
        for attempt in range(ATTEMPTS):
            process = self.processes[attempt % 2]
            limit = self.cuts[attempt] if attempt < len(self.cuts) else None

            async def read(process: SimulatedProcess = process, limit: int | None = limit) -> None:
                await self._read(process, limit)

            await process.connect(read)
            if self.has_ended:
                return
            await self.clock.sleep(PAUSE_S)

    @property
    def has_ended(self) -> bool:
        return bool(self.received_events) and isinstance(self.received_events[-1].event, RunEnded)

    async def _read(self, process: SimulatedProcess, limit: int | None) -> None:
        try:
            async with aclosing(await self._open_stream(process)) as events:
                await self._listen(events, limit)
        except NotFound:
            self.received_events.clear()  # it was not stored: ask again
        except Unavailable:
            return

    async def _listen(self, events: Events, limit: int | None) -> None:
        after_seq, received_count = self._last_seq, 0
        async for numbered in events:
            if numbered.seq > after_seq:
                self.received_events.append(numbered)
                received_count += 1
            if received_count == limit and not self.has_ended:
                return

    @property
    def _last_seq(self) -> int:
        return self.received_events[-1].seq if self.received_events else 0

    async def _open_stream(self, process: SimulatedProcess) -> Events:
        """Resume the stream, or send the question."""
        if self.received_events:
            return stream_events(process.deps, ADA, RUN_ID, split_after_seq=self._last_seq)
        deps, journal = process.build_run_deps(), Journal()
        try:
            turn = await prepare_turn(deps, ADA, Question("Where is the offsite?"), key=KEY)
        except DuplicateQuestion as duplicate:
            return stream_events(deps, ADA, duplicate.run.id)
        self.tasks.start_soon(process.run, lambda: answer_turn(deps, turn, journal))
        return stream_events(deps, ADA, turn.run_id, journal=journal)
