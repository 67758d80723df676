"""First word of a model's call: until then it reads, which may take long and costs no time of the turn."""

from contextlib import ExitStack

import anyio

from functions.chat.turn.deadline import Deadline
from shared.domain.chats.run import RunEvent, Stage
from shared.ports import Clock

SLOW_AFTER_S = 3.0
"""Who has waited so long for a first word is told why."""


class FirstWord:
    """Follows the calls of one voice by the events of its agent: their deadline is lent the time to read."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._reading = ExitStack()
        self._call_began = anyio.Event()
        self._patience = anyio.CancelScope()

    def note(self, event: RunEvent) -> None:
        """Take the next event: one begins a call, and the next one is its first word."""
        if self._call_began.is_set():
            self.end()
        if isinstance(event, Stage) and event.name == "thinking":
            self._reading.enter_context(self._deadline.read())
            self._call_began.set()

    def end(self) -> None:
        """Wait no longer: the first word is there, or none comes."""
        self._reading.close()
        self._call_began = anyio.Event()
        self._patience.cancel()

    async def wait_until_slow(self, clock: Clock) -> None:
        """Return once a call has had no word for SLOW_AFTER_S seconds."""
        while True:
            await self._call_began.wait()
            if not self._call_began.is_set():
                continue  # its first word came before we knew that it began
            with anyio.CancelScope() as self._patience:
                await clock.sleep(SLOW_AFTER_S)
                return
