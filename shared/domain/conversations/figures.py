"""Figures: how much was recorded and what was made of it, and the periods they are shown for."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Literal
from zoneinfo import ZoneInfo

from shared.domain.value import value

PeriodName = Literal["today", "monthly", "yearly", "all_time"]
"""Periods of the owner's calendar, of which the current one is meant: its day, month and year."""
MAX_SECONDS = 30 * 86_400
"""No recording is longer; its times are what a client wrote."""
HOUR = timedelta(hours=1)
_EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)


@value
class ConversationFigures:
    """What one conversation adds: seconds that were transcribed, words, and tasks and events found."""

    seconds: int = 0
    words: int = 0
    insights: int = 0


@value
class LibraryFigures:
    """The conversations of a span of time together, and the memories that are true since then."""

    conversations: ConversationFigures
    memories: int


@value
class Span:
    """A span of time; `name` is the local time or date at which it begins, in ISO 8601."""

    name: str
    begin: datetime
    end: datetime


def split_period(period: PeriodName, now: datetime, zone: ZoneInfo) -> list[Span]:
    """Return the spans of the current period until now: hours of a day, days of a month, months of a year.

    All time is one span.
    """
    if period == "all_time":
        return [Span(name="", begin=_EARLIEST, end=now)]
    spans = list(_SPLIT[period](now, zone))
    return [Span(name=s.name, begin=s.begin, end=min(s.end, now)) for s in spans if s.begin < now]


def _list_hours(now: datetime, zone: ZoneInfo) -> Iterator[Span]:
    """A day has 23 or 25 hours where the clocks change."""
    begin = _find_begin(now.astimezone(zone).date(), zone)
    while begin < now:
        name = begin.astimezone(zone).replace(tzinfo=None).isoformat()
        yield Span(name=name, begin=begin, end=begin + HOUR)
        begin += HOUR


def _list_days(now: datetime, zone: ZoneInfo) -> Iterator[Span]:
    today = now.astimezone(zone).date()
    days = [date(today.year, today.month, number + 1) for number in range(today.day)]
    return _join([*days, today + timedelta(days=1)], zone)


def _list_months(now: datetime, zone: ZoneInfo) -> Iterator[Span]:
    today = now.astimezone(zone).date()
    months = [date(today.year, number + 1, 1) for number in range(today.month)]
    return _join([*months, today + timedelta(days=1)], zone)


def _join(days: list[date], zone: ZoneInfo) -> Iterator[Span]:
    """Yield the span from each day to the next one of these."""
    for day, following in pairwise(days):
        begin, end = _find_begin(day, zone), _find_begin(following, zone)
        yield Span(name=day.isoformat(), begin=begin, end=end)


def _find_begin(day: date, zone: ZoneInfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


_SPLIT = {"today": _list_hours, "monthly": _list_days, "yearly": _list_months}
