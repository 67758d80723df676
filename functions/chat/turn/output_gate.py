"""Output gate of a run: text and tools wait until the question is stored and judged."""

import anyio

from shared.domain.crisis import CLEAR, CrisisVerdict


class OutputGate:
    """Open from the start, unless the run is not stored yet or nobody has judged its question.

    `addition` is what an answer that goes out ends with, a text of ours; mostly empty.
    """

    def __init__(self, *, is_stored: bool = True, verdict: CrisisVerdict | None = CLEAR) -> None:
        self.verdict = verdict
        self.addition = ""
        self._stored_event = anyio.Event()
        self._judged_event = anyio.Event()
        if is_stored:
            self._stored_event.set()
        if verdict is not None:
            self._judged_event.set()

    def mark_stored(self) -> None:
        self._stored_event.set()

    def judge(self, verdict: CrisisVerdict) -> None:
        self.verdict = verdict

    def release(self, addition: str) -> None:
        """Let the answer out after a verdict that leaves it to the model."""
        self.addition = addition
        self._judged_event.set()

    async def wait_released(self) -> None:
        """Return once text and tools may go out."""
        for event in (self._stored_event, self._judged_event):
            if not event.is_set():
                await event.wait()
