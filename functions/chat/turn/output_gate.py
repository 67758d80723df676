"""Output gate of a run: text and tools wait until the question is stored."""

import anyio


class OutputGate:
    """Open from the start, unless the run is not stored yet."""

    def __init__(self, *, is_stored: bool = True) -> None:
        self._stored_event = anyio.Event()
        if is_stored:
            self._stored_event.set()

    def mark_stored(self) -> None:
        self._stored_event.set()

    async def wait_released(self) -> None:
        """Return once text and tools may go out."""
        if not self._stored_event.is_set():
            await self._stored_event.wait()
