"""Rate limit status: what a caller may still do within the hour."""

from datetime import datetime

from shared.domain.errors import TooMany
from shared.domain.value import value
from shared.resilience.hour_windows import count_seconds_left


@value
class RateLimitStatus:
    """What is left of `limit` in the current hour, and the seconds until the next."""

    limit: int
    remaining: int
    reset_s: int


def check_limit(remaining: int | None, *, limit: int, noun: str, now: datetime) -> RateLimitStatus:
    """Return the status after one was consumed. Raises TooMany where none was left (None)."""
    reset_s = count_seconds_left(now)
    if remaining is None:
        message = f"Rate limit exceeded. Maximum {limit} {noun} per hour."
        raise TooMany(message, retry_after_s=reset_s)
    return RateLimitStatus(limit=limit, remaining=remaining, reset_s=reset_s)
