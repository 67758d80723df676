"""Output gate of a run: text and tools wait until the question is stored, judged and, in doubt, rated.

Also called: guardrails, output filtering.
"""

import anyio

from shared.domain.chats.crisis import CLEAR, CrisisVerdict


class OutputGate:
    """Open from the start, unless the run is not stored yet, nobody has judged its question, or it is doubted.

    `addition` is what an answer that goes out ends with, a text of ours; mostly empty. `warning` is what
    the model is told from its next call on; mostly empty.
    """

    def __init__(
        self,
        *,
        is_stored: bool = True,
        verdict: CrisisVerdict | None = CLEAR,
        is_rated: bool = True,
    ) -> None:
        self.verdict = verdict
        self.addition = ""
        self.warning = ""
        self._stored_event = _build_event(is_set=is_stored)
        self._verdict_event = _build_event(is_set=verdict is not None)
        self._judged_event = _build_event(is_set=verdict is not None)
        self._rated_event = _build_event(is_set=is_rated)

    def mark_stored(self) -> None:
        self._stored_event.set()

    def judge(self, verdict: CrisisVerdict) -> None:
        self.verdict = verdict
        self._verdict_event.set()

    async def wait_judged(self) -> CrisisVerdict:
        """Return the verdict on the question, once there is one."""
        await self._verdict_event.wait()
        return self.verdict or CLEAR

    def release(self, addition: str) -> None:
        """Let the answer out after a verdict that leaves it to the model."""
        self.addition = addition
        self._judged_event.set()

    def hold(self) -> None:
        """Let nothing more out until `release_rated()`."""
        if self._rated_event.is_set():
            self._rated_event = anyio.Event()

    def release_rated(self) -> None:
        self._rated_event.set()

    async def wait_released(self) -> None:
        """Return once text and tools may go out."""
        while not all(event.is_set() for event in self._events):
            for event in self._events:
                await event.wait()

    @property
    def _events(self) -> tuple[anyio.Event, ...]:
        return self._stored_event, self._judged_event, self._rated_event


def _build_event(*, is_set: bool) -> anyio.Event:
    event = anyio.Event()
    if is_set:
        event.set()
    return event
