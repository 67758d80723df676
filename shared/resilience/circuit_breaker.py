"""Circuit breaker: stops calls to a failing service for a while, then lets one try; pure."""

from datetime import datetime, timedelta

FAILURE_THRESHOLD = 5
OPEN_FOR = timedelta(seconds=30)


class CircuitBreaker:
    """Closed until FAILURES calls in a row have failed; open then, and one probe goes out each REST.

    A probe that succeeds closes it. One that fails, or is never heard of again, opens it for
    another REST: so between probes, whatever becomes of them, the service has its rest.
    """

    def __init__(self) -> None:
        self._failures = 0
        self._open_until: datetime | None = None

    def allow(self, now: datetime) -> bool:
        """Tell whether a call may go out; while open, that call is the probe."""
        if self._failures < FAILURE_THRESHOLD:
            return True
        if self._open_until is not None and now < self._open_until:
            return False
        self._open_until = now + OPEN_FOR
        return True

    def record_success(self) -> None:
        """Note any answer that shows the service at work, a refusal included."""
        self._failures = 0

    def record_failure(self, now: datetime) -> None:
        self._failures += 1
        self._open_until = now + OPEN_FOR
