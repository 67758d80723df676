"""Faults of calls through a port, and a port that injects them."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import anyio

from shared.domain.errors import PreconditionFailed, TimedOut, Unavailable

INTERNAL_DETAIL = "db-7.internal refused"
Fault = Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]


async def succeed(call: Callable[[], Awaitable[Any]]) -> Any:
    return await call()


async def raise_unavailable(_: Callable[[], Awaitable[Any]]) -> None:
    """Fail before any effect, and say so."""
    raise Unavailable(INTERNAL_DETAIL)


async def raise_timed_out(_: Callable[[], Awaitable[Any]]) -> None:
    """Fail before any effect, without saying so."""
    raise TimedOut(INTERNAL_DETAIL)


async def lose_response(call: Callable[[], Awaitable[Any]]) -> None:
    """Run the call and lose its response."""
    await call()
    raise TimedOut(INTERNAL_DETAIL)


async def raise_bug(_: Callable[[], Awaitable[Any]]) -> None:
    raise RuntimeError(INTERNAL_DETAIL)


async def hang(_: Callable[[], Awaitable[Any]]) -> None:
    await anyio.sleep_forever()


async def delay(call: Callable[[], Awaitable[Any]]) -> Any:
    """Run the call after all other tasks."""
    await anyio.wait_all_tasks_blocked()
    return await call()


async def deliver_twice(call: Callable[[], Awaitable[Any]]) -> Any:
    """Run the call twice; return the second answer."""
    await call()
    return await call()


class FaultyPort:
    """A port whose calls fail by the faults listed for their method, one each; then they succeed."""

    def __init__(self, port: object, **faults: Iterable[Fault]) -> None:
        self._port = port
        self._faults = {name: iter(sequence) for name, sequence in faults.items()}
        self.calls: Counter[str] = Counter()
        self.fault_count = 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            self.calls[name] += 1
            fault = next(self._faults.get(name, iter(())), succeed)
            self.fault_count += fault is not succeed
            return await fault(partial(method, *args, **kwargs))

        return call


class CallWatcher(Protocol):
    async def intercept(self, call: Callable[[], Awaitable[Any]]) -> Any: ...


class WatchedPort:
    """A port whose calls go through a watcher."""

    def __init__(self, port: Any, watcher: CallWatcher) -> None:
        self._port = port
        self._watcher = watcher

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        if name in ("name", "describe"):
            return method

        async def call(*args: Any, **kwargs: Any) -> Any:
            return await self._watcher.intercept(partial(method, *args, **kwargs))

        return call


class Crash(Exception):
    """The end of the process: nothing after it runs."""


@dataclass
class FaultInjector:
    """Counts calls through ports and fails at call `fail_at_call`; after a crash every call fails."""

    fail_at_call: int = 0
    fails_after_effect: bool = False
    failure: type[Exception] = Crash
    call_count: int = 0
    is_down: bool = False
    failure_count: int = 0

    async def intercept(self, call: Callable[[], Awaitable[Any]]) -> Any:
        self.call_count += 1
        if self.is_down:
            raise Crash
        if self.call_count != self.fail_at_call:
            return await call()
        if self.fails_after_effect:
            with suppress(PreconditionFailed):
                await call()
        self.is_down = self.failure is Crash
        self.failure_count += 1
        raise self.failure("injected")
