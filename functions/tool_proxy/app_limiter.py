"""App limiter: bounds the calls of this instance to each app, so that one app delays no other.

Also called: bulkhead.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from shared.domain.errors import ToolFailed
from shared.domain.ids import AppId
from shared.resilience.circuit_breaker import CircuitBreaker
from shared.resilience.rate_limiter import RateLimiter

MAX_CONCURRENT_CALLS = 20
"""Concurrent calls to one app; more are refused instead of queued."""
MAX_CALLS_PER_MINUTE = 600
CHECK_INTERVAL = timedelta(minutes=10)
MAX_LIMITERS = 1_000
APP_BUSY = "This app is slow at the moment and has too many calls to answer. Try again later."
APP_RATE_LIMITED = "This app gets too many calls at the moment. It takes the next in {seconds} s."
CIRCUIT_OPEN = (
    "This app failed several times in a row and is not called for half a minute."
    " Say so; a call before then would be refused."
)


class AppLimiter:
    """Limits of one app: concurrent calls, calls a minute, and a circuit breaker."""

    def __init__(self) -> None:
        self._calls_in_flight = 0
        self._rate = RateLimiter(MAX_CALLS_PER_MINUTE, timedelta(minutes=1))
        self._breaker = CircuitBreaker()
        self._checked_at: datetime | None = None

    @contextmanager
    def acquire_slot(self) -> Iterator[None]:
        """Hold one of the app's slots. Raises ToolFailed at once if none is free."""
        if self._calls_in_flight >= MAX_CONCURRENT_CALLS:
            raise ToolFailed(APP_BUSY)
        self._calls_in_flight += 1
        try:
            yield
        finally:
            self._calls_in_flight -= 1

    def admit(self, now: datetime) -> None:
        """Raise ToolFailed for a call that may not go out now."""
        if not self._breaker.allow(now):
            raise ToolFailed(CIRCUIT_OPEN)
        if wait := self._rate.acquire(now):
            raise ToolFailed(APP_RATE_LIMITED.format(seconds=-(-wait // timedelta(seconds=1))))

    def record_result(self, now: datetime, *, is_down: bool) -> None:
        """Tell the circuit breaker how a call ended."""
        if is_down:
            self._breaker.record_failure(now)
        else:
            self._breaker.record_success()

    def is_check_due(self, now: datetime) -> bool:
        """Tell whether to check a failing app's call log; once in CHECK_INTERVAL."""
        if self._checked_at is not None and now < self._checked_at + CHECK_INTERVAL:
            return False
        self._checked_at = now
        return True


class AppLimiters:
    """Limiters of the MAX_LIMITERS apps that this instance called last."""

    def __init__(self) -> None:
        self._limiters: dict[AppId, AppLimiter] = {}

    def get_limiter(self, app_id: AppId) -> AppLimiter:
        limiter = self._limiters.pop(app_id, None) or AppLimiter()
        self._limiters[app_id] = limiter
        if len(self._limiters) > MAX_LIMITERS:
            del self._limiters[next(iter(self._limiters))]
        return limiter
