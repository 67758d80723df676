"""Deadline of a turn: a time limit that stands still while the owner decides, and until the first word of a slow model.

Also called: timeout.
"""

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import anyio

from shared.domain.chats.run import RunEvent, Stage
from shared.ports import Clock

SLOW_AFTER_S = 3.0
"""Who has waited so long for a first word is told why."""


class Deadline:
    """`limit_s` seconds from `enforce()` on, without the time spent in `pause()`.

    Time spent in `read()` does not count either, up to `reading_s` seconds in all.
    """

    def __init__(self, limit_s: float, *, reading_s: float = 0.0) -> None:
        self._limit_s = limit_s
        self._reading_left_s = reading_s
        self._scope = anyio.CancelScope()

    @contextmanager
    def enforce(self) -> Iterator[None]:
        """Raise TimeoutError when the block takes too long."""
        with anyio.fail_after(self._limit_s) as self._scope:
            yield

    @contextmanager
    def pause(self) -> Iterator[None]:
        left_s = self._scope.deadline - anyio.current_time()
        self._scope.deadline = math.inf
        try:
            yield
        finally:
            self._scope.deadline = anyio.current_time() + left_s

    @contextmanager
    def read(self) -> Iterator[None]:
        began_at, given_s = anyio.current_time(), self._reading_left_s
        self._scope.deadline += given_s
        try:
            yield
        finally:
            self._reading_left_s = max(0.0, given_s - (anyio.current_time() - began_at))
            self._scope.deadline -= self._reading_left_s


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
