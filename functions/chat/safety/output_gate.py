"""Output gate of a run: text and tools wait until the question is stored and, in doubt, read.

Also called: guardrails, output filtering.
"""

import anyio

from shared.domain.chats.crisis import CLEAR, CrisisVerdict


class OutputGate:
    """Open from the start, unless the run is not stored yet, or its question is in doubt.

    `verdict` is that on the question so far: of rules and examples until it is read. `addition` is what an answer ends
    with, a text of ours; mostly empty. The end of an answer waits for the reading, `end_wait_s` at most; 0 where nobody
    reads the question. `warning` is what the model is told from its next call on; mostly empty.
    """

    def __init__(
        self,
        *,
        is_stored: bool = True,
        verdict: CrisisVerdict = CLEAR,
        is_open: bool = True,
        addition: str = "",
        end_wait_s: float = 0.0,
    ) -> None:
        self.verdict = verdict
        self.addition = addition
        self.warning = ""
        self._end_wait_s = end_wait_s
        self._stored_event = _build_event(is_set=is_stored)
        self._open_event = _build_event(is_set=is_open)
        self._read_event = _build_event(is_set=not end_wait_s)

    def mark_stored(self) -> None:
        self._stored_event.set()

    def hold(self) -> None:
        """Let nothing more out until `open()`."""
        if self._open_event.is_set():
            self._open_event = anyio.Event()

    def open(self) -> None:
        self._open_event.set()

    def mark_read(self) -> None:
        """Let answers end: the question is read, or will not be."""
        self._read_event.set()

    async def wait_released(self) -> None:
        """Return once text and tools may go out: where they may already, at once, so that a burst of words stays one."""
        if not self._stored_event.is_set():
            await self._stored_event.wait()
        while not self._open_event.is_set():
            await self._open_event.wait()

    async def wait_read(self) -> None:
        """Return once an answer may end."""
        await self.wait_released()
        with anyio.move_on_after(self._end_wait_s):
            await self._read_event.wait()
        await self.wait_released()


def _build_event(*, is_set: bool) -> anyio.Event:
    event = anyio.Event()
    if is_set:
        event.set()
    return event
