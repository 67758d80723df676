"""What a run has told so far; whoever reads it can start anywhere and follow."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence

from shared.domain.run import Ended, Numbered, RunEvent, Said


class Journal:
    """The events of one run, in memory. Written by the run alone, read by any number of tails.

    Nothing is let out before `open()`. After `abandon()` every tail ends without an end: the run is
    somebody else's, and what it tells from there on stands in the store.
    """

    def __init__(self) -> None:
        self.events: list[RunEvent] = []
        self._open = False
        self._abandoned = False
        self._news: asyncio.Event | None = None

    def append(self, event: RunEvent) -> None:
        self.events.append(event)
        self._tell()

    def open(self) -> None:
        self._open = True
        self._tell()

    def abandon(self) -> None:
        self._abandoned = True
        self._tell()

    async def tail(self, *, apart: int = 0) -> AsyncGenerator[Numbered, None]:
        """Yield every event up to the end; text that waits already comes in one piece.

        No piece reaches from `apart` or before to behind it.
        """
        seen = 0
        while not self._abandoned:
            fresh = self.events[seen:] if self._open else []
            for numbered in joined(fresh, first=seen + 1, apart=apart):
                yield numbered
                if isinstance(numbered.event, Ended):
                    return
            seen += len(fresh)
            if not self._open or seen == len(self.events):
                await self._told()

    def _tell(self) -> None:
        if self._news is not None:
            self._news.set()
            self._news = None

    async def _told(self) -> None:
        if self._abandoned:
            return
        if self._news is None:
            self._news = asyncio.Event()
        await self._news.wait()


def joined(events: Sequence[RunEvent], *, first: int, apart: int = 0) -> Iterator[Numbered]:
    """Number events from `first` on and join neighbouring pieces of text, but not over `apart`."""
    pieces: list[str] = []
    for seq, event in enumerate(events, first):
        if pieces and (not isinstance(event, Said) or seq == apart + 1):
            yield Numbered(seq - 1, Said("".join(pieces)))
            pieces = []
        if isinstance(event, Said):
            pieces.append(event.text)
        else:
            yield Numbered(seq, event)
    if pieces:
        yield Numbered(first + len(events) - 1, Said("".join(pieces)))
