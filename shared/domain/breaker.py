"""When to leave a failing service alone, and when to try it again; pure, time is passed in."""

from datetime import datetime, timedelta

FAILURES = 5
REST = timedelta(seconds=30)


class Breaker:
    """Closed until FAILURES calls in a row have failed; open then, and one probe goes out each REST.

    A probe that succeeds closes it. One that fails, or is never heard of again, opens it for
    another REST: so between probes, whatever becomes of them, the service has its rest.
    """

    def __init__(self) -> None:
        self._failures = 0
        self._rests_until: datetime | None = None

    def admits(self, now: datetime) -> bool:
        """Tell whether a call may go out; while open, that call is the probe."""
        if self._failures < FAILURES:
            return True
        if self._rests_until is not None and now < self._rests_until:
            return False
        self._rests_until = now + REST
        return True

    def succeeded(self) -> None:
        """Note any answer that shows the service at work, a refusal included."""
        self._failures = 0

    def failed(self, now: datetime) -> None:
        self._failures += 1
        self._rests_until = now + REST
