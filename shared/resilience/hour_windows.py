"""Hour windows: the UTC hours of the clock in which limits are counted."""

from datetime import datetime, timedelta


def floor_to_hour(now: datetime) -> datetime:
    """Return the beginning of the current UTC hour."""
    return now.replace(minute=0, second=0, microsecond=0)


def count_seconds_left(now: datetime) -> int:
    """Count the seconds to the top of the hour: 1 to 3600."""
    return -((now - floor_to_hour(now) - timedelta(hours=1)) // timedelta(seconds=1))
