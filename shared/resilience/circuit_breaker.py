"""Circuit breaker: stops calls to a failing service for a while, then lets one try; pure."""

from datetime import datetime, timedelta

FAILURE_THRESHOLD = 5
OPEN_FOR = timedelta(seconds=30)


class CircuitBreaker:
    """Closed until FAILURE_THRESHOLD calls in a row have failed; then open.

    While it is open, one probe goes out each OPEN_FOR. A probe that succeeds closes it. One that
    fails, or never reports back, leaves it open for another OPEN_FOR.
    """

    def __init__(self) -> None:
        self.failures = 0
        self._open_until: datetime | None = None

    def allow(self, now: datetime) -> bool:
        """Tell whether a call may go out; while open, that call is the probe."""
        if self.is_open(now):
            return False
        if self.failures >= FAILURE_THRESHOLD:
            self._open_until = now + OPEN_FOR
        return True

    def is_open(self, now: datetime) -> bool:
        """Tell whether no call may go out, not even a probe."""
        is_failing = self.failures >= FAILURE_THRESHOLD
        return is_failing and self._open_until is not None and now < self._open_until

    def record_success(self) -> None:
        """Record any answer that shows the service at work, a refusal included."""
        self.failures = 0

    def record_failure(self, now: datetime) -> None:
        self.failures += 1
        self._open_until = now + OPEN_FOR
