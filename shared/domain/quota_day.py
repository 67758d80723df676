"""Day of quotas: it ends at midnight of UTC."""

from datetime import UTC, datetime, time, timedelta


def find_day_end(now: datetime) -> datetime:
    """Return the next midnight of UTC, when daily quotas begin anew."""
    tomorrow = now.astimezone(UTC).date() + timedelta(days=1)
    return datetime.combine(tomorrow, time(), UTC)
