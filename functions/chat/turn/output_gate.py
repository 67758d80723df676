"""The one point where a run's words and tools can be kept back."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import anyio

from shared.domain.errors import KeepsakeError


class OutputGate:
    """Keeps tokens and tools until it is known that they may go out.

    Most turns are clear by rules and await nothing. An unsure one gives `classify`, which runs
    beside the first model call; if it fails or has not answered after `timeout_s`, the answer is no.
    With `stored=False`, it also keeps them until `note_stored()` says that the run is stored.
    """

    def __init__(
        self,
        classify: Callable[[], Awaitable[bool]] | None = None,
        *,
        timeout_s: float = 3.0,
        is_stored: bool = True,
    ) -> None:
        self._classify = classify
        self._timeout_s = timeout_s
        self._decided_event = anyio.Event()
        self._is_open = classify is None
        if self._is_open:
            self._decided_event.set()
        self._stored_event = anyio.Event()
        if is_stored:
            self._stored_event.set()

    def mark_stored(self) -> None:
        self._stored_event.set()

    async def classify_output(self) -> None:
        """Run the classifier; started beside the first model call."""
        if self._classify is None:
            return
        with anyio.move_on_after(self._timeout_s), suppress(KeepsakeError):
            self._is_open = await self._classify()
        self._decided_event.set()

    async def wait_released(self) -> bool:
        """Tell whether words and tools may go out; waits only while that is unknown."""
        if not self._decided_event.is_set():
            await self._decided_event.wait()
        if not self._stored_event.is_set():
            await self._stored_event.wait()
        return self._is_open
