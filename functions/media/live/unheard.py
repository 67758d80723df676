"""Unheard stream: the app hears by itself and sends what was said; its sound is only counted."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from math import inf

from shared.domain.conversations.speech import Hearing, Window


class Unheard:
    """A LiveHearing that hears nothing."""

    heard_until = inf

    def __init__(self) -> None:
        self._ended = asyncio.Event()

    async def hear(self, samples: bytes) -> None:
        """Pass over it."""

    async def flush(self) -> None:
        """Do nothing: nothing waits."""

    async def end(self) -> None:
        self._ended.set()

    def give_up(self) -> Sequence[Window]:
        return ()

    async def iterate(self) -> AsyncGenerator[Hearing, None]:
        await self._ended.wait()
        for nothing in tuple[Hearing, ...]():
            yield nothing
