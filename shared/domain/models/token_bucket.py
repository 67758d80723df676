"""Token bucket: what may be used at once, and what comes back with time; pure."""

from dataclasses import replace
from datetime import datetime
from typing import Self

from shared.domain.value import value


@value
class TokenBucket:
    """At most `capacity` tokens, of which `per_second` come back; `level` were in it `at` a time.

    No more than capacity + seconds * per_second leave it within any span of time, beside what it owes:
    a level below 0 is made up for first.
    """

    capacity: float
    per_second: float
    level: float
    at: datetime

    def refill(self, now: datetime) -> Self:
        """Return the bucket as it is now; clocks that differ never fill it twice."""
        seconds = max(0.0, (now - self.at).total_seconds())
        level = min(self.capacity, self.level + seconds * self.per_second)
        return replace(self, level=level, at=max(now, self.at))

    def count_available(self, now: datetime, *, floor: float) -> float:
        """Return what may be taken, if `floor` of its capacity stays for others."""
        return max(0.0, self.refill(now).level - floor * self.capacity)

    def is_full(self, now: datetime) -> bool:
        return self.refill(now).level >= self.capacity

    def take(self, tokens: float, now: datetime) -> Self:
        bucket = self.refill(now)
        return replace(bucket, level=bucket.level - tokens)
