"""A client that asks once, with a key, and comes back until it has heard the end."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from anyio.abc import TaskGroup

from functions.chat.accepting import prepare
from functions.chat.following import follow
from functions.chat.journal import Journal
from functions.chat.repeats import Key, Repeated
from functions.chat.turn import answer
from shared.domain.errors import NotFound, Unavailable
from shared.domain.run import Ended, Numbered
from tests.doubles import FixedClock
from tests.functions.chat.conftest import ADA
from tests.functions.chat.cuts.process import Process

KEY = Key(text="k1", fingerprint="f1")
RUN = KEY.run_id(ADA)
PAUSE_S = 0.25
ATTEMPTS = 400

Events = AsyncGenerator[Numbered, None]


@dataclass
class Client:
    """Goes to its processes in turn; each of `cuts` ends one connection after so many events."""

    processes: tuple[Process, Process]
    tasks: TaskGroup
    clock: FixedClock
    cuts: tuple[int, ...] = ()
    heard: list[Numbered] = field(default_factory=list)

    async def ask(self) -> None:
        for attempt in range(ATTEMPTS):
            process = self.processes[attempt % 2]
            limit = self.cuts[attempt] if attempt < len(self.cuts) else None

            async def read(process: Process = process, limit: int | None = limit) -> None:
                await self._read(process, limit)

            await process.connect(read)
            if self.has_ended:
                return
            await self.clock.sleep(PAUSE_S)

    @property
    def has_ended(self) -> bool:
        return bool(self.heard) and isinstance(self.heard[-1].event, Ended)

    async def _read(self, process: Process, limit: int | None) -> None:
        try:
            async with aclosing(await self._open(process)) as events:
                await self._listen(events, limit)
        except NotFound:
            self.heard.clear()  # it was not saved: ask again
        except Unavailable:
            return

    async def _listen(self, events: Events, limit: int | None) -> None:
        after, heard = self._after, 0
        async for numbered in events:
            if numbered.seq > after:
                self.heard.append(numbered)
                heard += 1
            if heard == limit and not self.has_ended:
                return

    @property
    def _after(self) -> int:
        return self.heard[-1].seq if self.heard else 0

    async def _open(self, process: Process) -> Events:
        """Resume what was begun; else send the question."""
        if self.heard:
            return follow(process.deps, ADA, RUN, apart=self._after)
        journal = Journal()
        try:
            turn = await prepare(process.deps, ADA, "Where is the offsite?", None, key=KEY)
        except Repeated as repeated:
            return follow(process.deps, ADA, repeated.run.id)
        self.tasks.start_soon(process.run, lambda: answer(process.deps, turn, journal))
        return follow(process.deps, ADA, turn.run_id, journal=journal)
