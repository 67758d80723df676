"""Retry with backoff: the one way to make a call again that raised Unavailable.

It is ours and not stamina's, which sleeps on the event loop's time: our pauses pass on the Clock
port, so that tests and the crash simulation play them, and a cold start is 9 ms shorter.

Also called: exponential backoff, jitter.
"""

import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from shared.domain.errors import Unavailable

T = TypeVar("T")
Backoff = Callable[[int, Unavailable], float | None]
"""Seconds to sleep, by the number of failed attempts and the last failure; None gives up."""

MAX_ATTEMPTS = 2
BACKOFF_S = 0.2
MAX_BACKOFF_S = 2.0
"""A caller that waits for an answer prefers an early failure to a longer wait."""


def compute_backoff_s(attempt: int, failure: Unavailable) -> float | None:
    """Double the pause with each attempt; wait at least `retry_after_s`, or give up if it is long.

    Jitter keeps callers that failed together from returning together.
    """
    retry_after_s = failure.retry_after_s or 0.0
    if retry_after_s > MAX_BACKOFF_S:
        return None
    jitter = random.uniform(0.5, 1)  # noqa: S311 - no secret
    return retry_after_s + BACKOFF_S * 2.0 ** (attempt - 1) * jitter


async def retry(
    call: Callable[[], Awaitable[T]],
    *,
    sleep: Callable[[float], Awaitable[None]],
    on: type[Unavailable] = Unavailable,
    attempts: int = MAX_ATTEMPTS,
    timeout_s: float | None = None,
    backoff: Backoff = compute_backoff_s,
) -> T:
    """Make a call that may be repeated until it succeeds, at most `attempts` times.

    An attempt that takes longer than `timeout_s` counts as Unavailable. Raises the last failure.
    """
    for attempt in range(1, attempts):
        try:
            return await _call_within(timeout_s, call)
        except on as failure:
            pause_s = backoff(attempt, failure)
            if pause_s is None:
                raise
        await sleep(pause_s)
    return await _call_within(timeout_s, call)


async def _call_within(timeout_s: float | None, call: Callable[[], Awaitable[T]]) -> T:
    if timeout_s is None:
        return await call()
    with anyio.move_on_after(timeout_s):
        return await call()
    raise Unavailable(f"No answer within {timeout_s} s")
