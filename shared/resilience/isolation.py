"""Isolation of readers: hostile files cost a process of their own, within limits of memory and time.

Also called: sandbox, subprocess.
"""

import resource
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from time import process_time
from typing import TypeVar

import anyio
from anyio import CapacityLimiter, to_process
from anyio.lowlevel import RunVar

from shared.domain.value import value

T = TypeVar("T")
MAX_PROCESSES = 2
_limiter: RunVar[CapacityLimiter] = RunVar("_limiter")
_long: RunVar[anyio.Lock] = RunVar("_long")
"""Held by whoever reads for longer than a first try: the other process stays free for small files."""
_turns: RunVar[dict[str, tuple[anyio.Lock, int]]] = RunVar("_turns")
"""By owner: the lock that one of their files holds, and how many wait for it or hold it."""


@value
class Limits:
    """What reading one file may take; the memory includes that of the process and its modules.

    What takes longer than `first_cpu_s` begins anew once those that wait have had as long.
    """

    timeout_s: float = 120.0
    cpu_s: float = 60.0
    first_cpu_s: float = 1.0
    memory_bytes: int = 1_610_612_736


class LimitReached(Exception):
    """Reading took more than the limits; the text says what, for people."""


class LongTurnTaken(Exception):
    """Reading needs more than a first try, and another file is read for long: leave the place, and come again."""


async def run_isolated(
    read: Callable[[], T],
    limits: Limits,
    owner: str,
    *,
    is_slow: bool = False,
    leaves: bool = False,
) -> tuple[T, float]:
    """Call `read` in another process, two at once and one of each owner, who waits behind their own alone.

    A few owners of slow files hold up no small one: each is tried for a second first, and one is read for longer at a time.
    What `is_slow` was tried before. Returns what it returns, and how many seconds of processor time it took. Waiting for others
    counts as no time of this one. Raises LimitReached, LongTurnTaken for who `leaves` rather than wait for long, and what `read` raises.
    """
    first_s = 0.0 if is_slow else min(limits.first_cpu_s, limits.cpu_s)
    try:
        async with _take_turn(owner):
            try:
                if not is_slow:
                    async with _get_limiter():
                        return await _run(read, replace(limits, cpu_s=first_s))
            except anyio.BrokenWorkerProcess:
                if first_s == limits.cpu_s:
                    raise
            if leaves and is_read_for_long():
                raise LongTurnTaken
            async with _get_long(), _get_limiter():
                content, seconds = await _run(read, limits)
            return content, first_s + seconds
    except TimeoutError as error:
        reason = f"reading it takes longer than {limits.timeout_s:.0f} seconds"
        raise LimitReached(reason) from error
    except MemoryError as error:
        raise LimitReached("reading it takes more memory than there is") from error
    except anyio.BrokenWorkerProcess as error:
        raise LimitReached("reading it takes more time or memory than it may") from error


async def has_turn(owner: str, *, within_s: float) -> bool:
    """Tell whether no file of an owner is read, or soon none is: who would wait longer leaves the place to others."""
    with anyio.move_on_after(within_s):
        async with _take_turn(owner):
            return True
    return False


def is_read_for_long() -> bool:
    """Tell whether a file is read for longer than a first try: no other one is then."""
    return _get_long().locked()


async def _run(read: Callable[[], T], limits: Limits) -> tuple[T, float]:
    work = partial(_run_bounded, read, limits)
    with anyio.fail_after(limits.timeout_s):
        return await to_process.run_sync(work, cancellable=True, limiter=CapacityLimiter(1))


def _run_bounded(read: Callable[[], T], limits: Limits) -> tuple[T, float]:
    """The timer's signal ends the process, also where it runs code that no exception reaches."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, hard))
    signal.setitimer(signal.ITIMER_PROF, limits.cpu_s)
    began_s = process_time()
    try:
        return read(), process_time() - began_s
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@asynccontextmanager
async def _take_turn(owner: str) -> AsyncIterator[None]:
    """Wait until no other file of the owner is read."""
    try:
        turns = _turns.get()
    except LookupError:
        turns = {}
        _turns.set(turns)
    lock, waiting = turns.get(owner, (anyio.Lock(), 0))
    turns[owner] = lock, waiting + 1
    try:
        async with lock:
            yield
    finally:
        lock, waiting = turns.pop(owner)
        if waiting > 1:
            turns[owner] = lock, waiting - 1


def _get_limiter() -> CapacityLimiter:
    try:
        return _limiter.get()
    except LookupError:
        limiter = CapacityLimiter(MAX_PROCESSES)
        _limiter.set(limiter)
        return limiter


def _get_long() -> anyio.Lock:
    try:
        return _long.get()
    except LookupError:
        lock = anyio.Lock()
        _long.set(lock)
        return lock
