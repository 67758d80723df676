"""Polling of the world outside a test, until a condition holds."""

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

T = TypeVar("T")
PAUSE_S = 0.05


async def wait_until_async(ask: Callable[[], Awaitable[T | None]], *, within_s: float = 60.0) -> T:
    """Return the first answer that is not None; other processes cannot notify us."""
    with anyio.fail_after(within_s):
        while (answer := await ask()) is None:  # noqa: ASYNC110 - no event crosses processes
            await anyio.sleep(PAUSE_S)
    return answer


def wait_until(ask: Callable[[], T | None], *, within_s: float = 60.0) -> T:
    """Do the same, for a test that is not asynchronous."""
    deadline = time.monotonic() + within_s
    while (answer := ask()) is None:
        assert time.monotonic() < deadline, f"not so within {within_s:g} s"
        time.sleep(PAUSE_S)
    return answer
