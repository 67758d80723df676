"""Wall clock: moments as somebody reads them off the clock and calendar at home, for models and from them.

A model is told the weekday and the days ahead, and answers as it would write on a calendar. The zone is
added here, so that no model has to count hours or days.

Also called: local time, civil time, timezone conversion.
"""

import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from email.utils import parsedate_to_datetime
from itertools import groupby
from zoneinfo import ZoneInfo

from shared.languages import LANGUAGES, translate

EVENING, DAY_END = time(18), time(23, 59)
"""Hours for a day that was named without one."""
DAYS_AHEAD = 14
_MAX_TIME_CHARS = 64
_DAY = re.compile(r"(?<!\d)(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})(?!\d)日?")
_HALF = r"\s?([ap])\.?\s?m\b"
_MARK = r"\s?(?:(?:h|uhr|o['’]clock)(?![^\W\d_])|[時时点點시])\s?"
"""What stands behind an hour, in front of its minutes or alone."""
_CLOCK = re.compile(
    rf"\D*(?<![+-])(\d{{1,2}})(?:(?:[:.]|{_MARK})(\d\d)(?!\d)(?::[\d.]+)?(?:{_HALF})?|{_HALF}|(?:{_MARK}|Z)?\W*$)",
    re.IGNORECASE,
)
"""A lone hour ends the text: "at 9", but not "in 2 hours"."""
_NAMED_HALF = re.compile(r"(?:(午前|上午|오전)|午後|下午|오후)\s?\d")
_DAY_FIRST = re.compile(r"(?<!\d)(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)")
"""With full stops the day is first everywhere; with strokes the first number is the month in some countries."""
_HOUR = re.compile(
    rf"(?<!\d)(\d{{1,2}}):(\d\d)(?:{_HALF})?|(?<!\d)(\d{{1,2}})(?:{_HALF}|{_MARK}(?:\d\d分?)?)"
    r"|\b(?:at|um|à|às|alle|las)\s\d{1,2}(?=\W*$)",
    re.IGNORECASE,
)
_BESIDE_A_DATE = re.compile(
    r"(?<=\d)(?:st|nd|rd|th)\b|\b(?:at|on|the|of|am|um|den|le|à|el|de|às)\b|(?<=\d)[月日]"
)


def write_wall_clock(moment: datetime, zone: ZoneInfo) -> str:
    """Write a moment with its weekday: "Friday 2026-11-27 20:00"."""
    return f"{moment.astimezone(zone):%A %Y-%m-%d %H:%M}"


def list_days_ahead(moment: datetime, zone: ZoneInfo) -> str:
    """Write the fourteen days after a moment: "2026-11: Sat 28 Sun 29 Mon 30; 2026-12: Tue 1 …"."""
    today = moment.astimezone(zone).date()
    days = (today + timedelta(days) for days in range(1, DAYS_AHEAD + 1))
    months = groupby(days, key=lambda day: f"{day:%Y-%m}")
    return "; ".join(
        f"{month}: {' '.join(f'{day:%a} {day.day}' for day in month_days)}"
        for month, month_days in months
    )


def read_day_ahead(
    text: str | None, moment: datetime, zone: ZoneInfo, day_hour: time | None = None
) -> datetime | None:
    """Read a day of list_days_ahead() in another form: "Mon 30", "11/30/2026" or "Montag 9:30"; None for other texts.

    Which number is the month is told by the days: it is the first one that all words and numbers fit.
    """
    plain = unicodedata.normalize("NFKC", text or "").lower()
    clock = _HOUR.search(plain)
    day_text = _BESIDE_A_DATE.sub(" ", plain.replace(clock[0], " ", 1) if clock else plain)
    words, numbers = (
        re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", day_text),
        [*map(int, re.findall(r"\d{1,9}", day_text))],
    )
    today = moment.astimezone(zone).date()
    for day in (today + timedelta(days) for days in range(1, DAYS_AHEAD + 1)):
        if _names_day(words, numbers, day):
            hour = f" {clock[0]}" if clock else ""
            return read_wall_clock(f"{day}{hour}", zone, day_hour)
    return None


def _names_day(words: Sequence[str], numbers: Sequence[int], day: date) -> bool:
    weekday, month = _translate(f"{day:%A}"), _translate(f"{day:%B}")
    fits = all(
        len(word) > 2
        and (_begins_any(month, word) or (_begins_any(weekday, word) and not _begins_month(word)))
        for word in words
    )
    is_named = any(_begins_any(weekday, word) for word in words) or (
        day.day in numbers and len(words) + len(numbers) > 1
    )
    return fits and is_named and set(numbers) <= {day.year, day.month, day.day}


def _begins_month(word: str) -> bool:
    """Tell it of "mar", which is March or a Tuesday of Spain."""
    return any(_begins_any(_translate(f"{date(2000, n, 1):%B}"), word) for n in range(1, 13))


def _translate(name: str) -> Sequence[str]:
    """Return a name of the calendar in our languages, as models write in the owner's."""
    return [translate(name, language).lower() for language in ("en", *LANGUAGES)]


def _begins_any(names: Sequence[str], word: str) -> bool:
    return any(name.startswith(word) for name in names)


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


def read_wall_clock(
    text: str | None, zone: ZoneInfo, day_hour: time | None = None
) -> datetime | None:
    """Read "2026-11-30 18:00" or "2026-11-30 6 PM", as a clock in the zone shows it, into UTC; None for other texts.

    A day alone is its `day_hour`. An offset behind the hour is left out: models add one by habit. An hour that
    the clocks skip is the one after it, of one that comes twice it is the first. "24:00" is the end of the day.
    """
    plain = _DAY_FIRST.sub(r"\3-\2-\1", unicodedata.normalize("NFKC", text or ""))
    day = _DAY.search(plain)
    if day is None:
        return None
    try:
        hour = _read_hour(day.string[day.end() :], day_hour)
        if hour is None:
            return None
        return datetime.combine(date(*map(int, day.groups())), hour, zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _read_hour(text: str, day_hour: time | None) -> time | None:
    """Read the hour behind a day; one that was said and cannot be read is None. Raises ValueError."""
    match = _CLOCK.match(text)
    if match is None:
        return None if re.search(r"\d", text) else day_hour
    hour, minute, *halves = match.groups()
    if (hour, minute) == ("24", "00"):
        return DAY_END
    if named := _NAMED_HALF.search(text):
        halves = ["a" if named[1] else "p"]
    if (half := "".join(filter(None, halves)).casefold()) and int(hour) <= 12:
        return time(int(hour) % 12 + 12 * (half == "p"), int(minute or 0))
    return time(int(hour), int(minute or 0))
