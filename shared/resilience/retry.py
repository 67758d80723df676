"""Retry with backoff: the number of attempts after a passing failure, and the pause before each."""

import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from shared.domain.errors import Unavailable

T = TypeVar("T")

MAX_ATTEMPTS = 2
BACKOFF_S = 0.2
MAX_BACKOFF_S = 2.0
"""Whoever waits for an answer would rather hear of the failure than wait longer."""


def compute_backoff_s(failure: Unavailable) -> float | None:
    """Return the pause before the second attempt; None where there is none, as it comes too late.

    It varies, so that callers that failed together do not return together.
    """
    retry_after_s = failure.retry_after_s or 0.0
    if retry_after_s > MAX_BACKOFF_S:
        return None
    return retry_after_s + random.uniform(BACKOFF_S / 2, BACKOFF_S)  # noqa: S311 - no secret


async def retry_once(
    call: Callable[[], Awaitable[T]], sleep: Callable[[float], Awaitable[None]]
) -> T:
    """Make a call that may be repeated; if it raises Unavailable, make it once more."""
    try:
        return await call()
    except Unavailable as failure:
        wait_s = compute_backoff_s(failure)
        if wait_s is None:
            raise
        await sleep(wait_s)
    return await call()
