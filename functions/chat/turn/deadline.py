"""Deadline of a turn: a time limit that stands still while the owner decides, and while a slow model reads."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import anyio


class Deadline:
    """`limit_s` seconds from `enforce()` on, without the time spent in `pause()`.

    Time spent in `read()` does not count either, up to `reading_s` seconds in all.
    """

    def __init__(self, limit_s: float, *, reading_s: float = 0.0) -> None:
        self._limit_s = limit_s
        self._reading_left_s = reading_s
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

    @contextmanager
    def read(self) -> Iterator[None]:
        began_at, given_s = anyio.current_time(), self._reading_left_s
        self._scope.deadline += given_s
        try:
            yield
        finally:
            self._reading_left_s = max(0.0, given_s - (anyio.current_time() - began_at))
            self._scope.deadline -= self._reading_left_s
