"""What a run has told so far; whoever reads it can start anywhere and follow."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence

from shared.domain.run import Ended, RunEvent, Said


class Journal:
    """The events of one run, in memory. Written by the run alone, read by any number of tails."""

    def __init__(self) -> None:
        self._events: list[RunEvent] = []
        self._news: asyncio.Event | None = None

    def append(self, event: RunEvent) -> None:
        self._events.append(event)
        if self._news is not None:
            self._news.set()
            self._news = None

    async def tail(self) -> AsyncGenerator[RunEvent, None]:
        """Yield every event up to the end; text that waits already comes in one piece."""
        seen = 0
        while True:
            fresh = self._events[seen:]
            seen += len(fresh)
            for event in joined(fresh):
                yield event
                if isinstance(event, Ended):
                    return
            if seen == len(self._events):
                await self._grown()

    async def _grown(self) -> None:
        if self._news is None:
            self._news = asyncio.Event()
        await self._news.wait()


def joined(events: Sequence[RunEvent]) -> Iterator[RunEvent]:
    """Join neighbouring pieces of text."""
    pieces: list[str] = []
    for event in events:
        if isinstance(event, Said):
            pieces.append(event.text)
            continue
        if pieces:
            yield Said("".join(pieces))
            pieces = []
        yield event
    if pieces:
        yield Said("".join(pieces))
