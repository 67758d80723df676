"""Wall clock: moments as somebody reads them off the clock and calendar at home, for models and from them.

A model is told the weekday and the days ahead, and answers as it would write on a calendar. The zone is
added here, so that no model has to count hours or days.

Also called: local time, civil time, timezone conversion.
"""

import re
from datetime import UTC, datetime, time, timedelta
from email.utils import parsedate_to_datetime
from itertools import groupby
from zoneinfo import ZoneInfo

EVENING = time(18)
"""The hour of a day that was named without one."""
DAYS_AHEAD = 14
_MAX_TIME_CHARS = 64
_WALL_CLOCK = re.compile(
    r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:T|,?\s+(?:at\s+)?)(\d{1,2})[:.](\d{2}))?(?!\d)",
    re.IGNORECASE,
)


def write_wall_clock(moment: datetime, zone: ZoneInfo) -> str:
    """Write a moment with its weekday: "Friday 2026-11-27 20:00"."""
    return f"{moment.astimezone(zone):%A %Y-%m-%d %H:%M}"


def list_days_ahead(moment: datetime, zone: ZoneInfo) -> str:
    """Write the fourteen days after a moment: "2026-11: Sat 28, Sun 29, Mon 30; 2026-12: Tue 01, …"."""
    today = moment.astimezone(zone).date()
    days = (today + timedelta(days) for days in range(1, DAYS_AHEAD + 1))
    months = groupby(days, key=lambda day: f"{day:%Y-%m}")
    return "; ".join(
        f"{month}: {', '.join(f'{day:%a %d}' for day in month_days)}"
        for month, month_days in months
    )


def localize(text: str, zone: ZoneInfo) -> str:
    """Write a time of ISO 8601 or of a mail's header as ISO 8601 by the zone's clock, to the second.

    A day, a time that names no offset and any other text stay as they are.
    """
    moment = _read_moment(text) if len(text) <= _MAX_TIME_CHARS else None
    try:
        return moment.astimezone(zone).isoformat(timespec="seconds") if moment else text
    except (ValueError, OverflowError):  # outside the years 1 to 9999 there
        return text


def _read_moment(text: str) -> datetime | None:
    """Return an aware time; "-0000" of a mail is UTC, as RFC 5322 has it."""
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = parse(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        if moment.tzinfo or "-0000" in text:
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def read_wall_clock(text: str | None, zone: ZoneInfo) -> datetime | None:
    """Read "2026-11-30 18:00" or "2026-11-30", as a clock in the zone shows it, into UTC; None for other texts.

    A day alone is its evening. An offset behind it is left out: models add one by habit. An hour that the
    clocks skip is the one after it, of one that comes twice it is the first.
    """
    match = _WALL_CLOCK.search(text or "")
    if match is None:
        return None
    year, month, day, hour, minute = match.groups()
    clock = (int(hour), int(minute)) if hour else (EVENING.hour, EVENING.minute)
    try:
        return datetime(int(year), int(month), int(day), *clock, tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
