"""Rate limiter without windows: so many in a period; pure, time is passed in.

Also called: leaky bucket, GCRA.
"""

from datetime import datetime, timedelta


class RateLimiter:
    """Admits `limit` in `period`, all at once or spread; capacity returns evenly.

    The generic cell rate algorithm, whose whole state is one moment.
    """

    def __init__(self, limit: int, period: timedelta) -> None:
        self._step = period / limit
        self._period = period
        self._full_until: datetime | None = None

    def acquire(self, now: datetime) -> timedelta:
        """Take one and return zero, or take none and return how long until one is free."""
        since = max(now, self._full_until or now)
        wait = since + self._step - self._period - now
        if wait > timedelta(0):
            return wait
        self._full_until = since + self._step
        return timedelta(0)
