"""What a caller may still do within an hour."""

from datetime import datetime

from shared.domain.errors import TooMany
from shared.domain.value import value
from shared.resilience.hour_windows import count_seconds_left


@value
class RateLimitStatus:
    """What is left of `limit` in the running hour, and the seconds until the next."""

    limit: int
    remaining: int
    reset_s: int


def check_limit(remaining: int | None, *, limit: int, noun: str, now: datetime) -> RateLimitStatus:
    """Say what is left of a limit after one was taken. Raises TooMany where there was none to take."""
    reset_s = count_seconds_left(now)
    if remaining is None:
        message = f"Rate limit exceeded. Maximum {limit} {noun} per hour."
        raise TooMany(message, retry_after_s=reset_s)
    return RateLimitStatus(limit=limit, remaining=remaining, reset_s=reset_s)
