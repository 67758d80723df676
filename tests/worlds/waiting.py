"""Waiting for the world outside a test: asks again until it is so."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

T = TypeVar("T")
PAUSE_S = 0.05


async def until(ask: Callable[[], Awaitable[T | None]], *, within_s: float = 60.0) -> T:
    """Return the first answer that is not None; other processes give no other sign."""
    with anyio.fail_after(within_s):
        while (answer := await ask()) is None:  # noqa: ASYNC110 - no event crosses processes
            await anyio.sleep(PAUSE_S)
    return answer
