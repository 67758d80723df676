"""Rate limit of each key on this instance, such as an MCP key: so many a minute, then TooMany.

Also called: rate limiting, throttling, request throttle.
"""

from datetime import datetime, timedelta

from shared.domain.errors import TooMany
from shared.resilience.rate_limiter import RateLimiter

MAX_PER_MINUTE = 120
MAX_TRACKED_KEYS = 10_000


class KeyRateLimiter:
    """A limiter for each of the last MAX_TRACKED_KEYS keys; only known keys may be checked.

    `unit` names in the message what is counted.
    """

    def __init__(self, limit: int = MAX_PER_MINUTE, *, unit: str = "messages") -> None:
        self._limit = limit
        self._unit = unit
        self._limiters: dict[str, RateLimiter] = {}

    def check(self, key_id: str, now: datetime) -> None:
        """Raises TooMany."""
        limiter = self._limiters.pop(key_id, None) or RateLimiter(self._limit, timedelta(minutes=1))
        self._limiters[key_id] = limiter
        if len(self._limiters) > MAX_TRACKED_KEYS:
            del self._limiters[next(iter(self._limiters))]
        if wait := limiter.acquire(now):
            seconds = -(-wait // timedelta(seconds=1))
            raise TooMany(f"At most {self._limit} {self._unit} a minute.", retry_after_s=seconds)
