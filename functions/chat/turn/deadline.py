"""Deadline of a turn: a time limit that stands still while the owner decides on a call."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import anyio


class Deadline:
    """`limit_s` seconds from `enforce()` on, without the time spent in `pause()`."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._scope = anyio.CancelScope()

    @contextmanager
    def enforce(self) -> Iterator[None]:
        """Raise TimeoutError when the block takes too long."""
        with anyio.fail_after(self._limit_s) as self._scope:
            yield

    @contextmanager
    def pause(self) -> Iterator[None]:
        left_s = self._scope.deadline - anyio.current_time()
        self._scope.deadline = math.inf
        try:
            yield
        finally:
            self._scope.deadline = anyio.current_time() + left_s
