"""Isolation of readers: hostile files cost a process of their own, within limits of memory and time.

Also called: sandbox, subprocess.
"""

import resource
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio
from anyio import CapacityLimiter, to_process
from anyio.lowlevel import RunVar

from shared.domain.value import value

T = TypeVar("T")
MAX_PROCESSES = 2
_limiter: RunVar[CapacityLimiter] = RunVar("_limiter")


@value
class Limits:
    """What reading one file may take; the memory includes that of the process and its modules."""

    timeout_s: float = 120.0
    memory_bytes: int = 1_610_612_736


class LimitReached(Exception):
    """Reading took more than the limits; the text says what, for people."""


async def run_isolated(read: Callable[[], T], limits: Limits) -> T:
    """Call `read` in another process, two at once; waiting for others counts as no time of this one.

    Raises LimitReached, and what `read` raises.
    """
    work = partial(_run_bounded, read, limits.memory_bytes)
    try:
        async with _get_limiter():
            with anyio.fail_after(limits.timeout_s):
                return await to_process.run_sync(work, cancellable=True, limiter=CapacityLimiter(1))
    except TimeoutError as error:
        reason = f"reading it takes longer than {limits.timeout_s:.0f} seconds"
        raise LimitReached(reason) from error
    except (anyio.BrokenWorkerProcess, MemoryError) as error:
        raise LimitReached("reading it takes more memory than there is") from error


def _run_bounded(read: Callable[[], T], memory_bytes: int) -> T:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, hard))
    return read()


def _get_limiter() -> CapacityLimiter:
    try:
        return _limiter.get()
    except LookupError:
        limiter = CapacityLimiter(MAX_PROCESSES)
        _limiter.set(limiter)
        return limiter
