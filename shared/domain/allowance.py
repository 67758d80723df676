"""What a caller may still do within an hour."""

from datetime import datetime

from shared.domain.errors import TooMany
from shared.domain.hours import seconds_left
from shared.domain.value import value


@value
class Allowance:
    """What is left of `limit` in the running hour, and the seconds until the next."""

    limit: int
    remaining: int
    reset_s: int


def allowed(left: int | None, *, limit: int, of: str, now: datetime) -> Allowance:
    """Say what is left of a limit after one was taken. Raises TooMany where there was none to take."""
    reset_s = seconds_left(now)
    if left is None:
        message = f"Rate limit exceeded. Maximum {limit} {of} per hour."
        raise TooMany(message, retry_after_s=reset_s)
    return Allowance(limit=limit, remaining=left, reset_s=reset_s)
