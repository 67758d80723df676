"""Stretches of time on the owner's wall clock: days, weeks, months, and how to move between them."""

from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time, timedelta

from shared.domain.value import positional_value

_DAYS = {"day": 1, "week": 7, "weekend": 7, "fortnight": 14}
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_MARGINS = {"second": 10 * 60, "minute": 10 * 60, "hour": 60 * 60}
_SECONDS = {"second": 1, "minute": 60, "hour": 3_600}
PARTS = {
    "morning": (5, 12), "midday": (11, 14), "noon": (11, 14), "lunchtime": (11, 14),
    "afternoon": (12, 18), "evening": (18, 24), "night": (18, 29),
}  # fmt: skip
_FIRST_YEAR = 1970
_FARTHEST = 9  # years to the nearest 29 February, over a century that is no leap year


@positional_value
class Span:
    """A stretch of time in the owner's zone; `start` is part of it, `end` is not."""

    start: datetime
    end: datetime


Yearly = Callable[[int], Span | None]


def midnight(moment: datetime) -> datetime:
    return datetime.combine(moment, time(), moment.tzinfo)


def shift(moment: datetime, unit: str, count: int) -> datetime:
    """Move along the calendar at the same wall time; a day that a month lacks becomes its last."""
    if unit in _DAYS:
        return moment + timedelta(days=_DAYS[unit] * count)
    year, month = divmod(moment.year * 12 + moment.month - 1 + _MONTHS[unit] * count, 12)
    day = min(moment.day, monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)


def period(moment: datetime, unit: str, offset: int = 0) -> Span:
    """Return the whole day, week (from Monday), weekend, … that is `offset` after this one."""
    start = shift(_floor(midnight(moment), unit), unit, offset)
    return Span(start, start + timedelta(days=2) if unit == "weekend" else shift(start, unit, 1))


def _floor(day: datetime, unit: str) -> datetime:
    if unit in _DAYS:
        monday = day - timedelta(days=day.weekday())
        saturday = monday + timedelta(days=5)
        return {"day": day, "weekend": saturday}.get(unit, monday)
    months = day.year * 12 + day.month - 1
    year, month = divmod(months - months % _MONTHS[unit], 12)
    return day.replace(year=year, month=month + 1, day=1)


def away(now: datetime, unit: str, count: int) -> Span:
    """Return a whole period `count` units away, or the surroundings of a moment on today's clock."""
    if unit not in _SECONDS:
        return period(now, unit, count)
    present, margin = now.astimezone(UTC), timedelta(seconds=_MARGINS[unit])
    at = present + timedelta(seconds=_SECONDS[unit] * count)
    low, high = at - margin, at + margin
    start, end = (low, min(high, present)) if count < 0 else (max(low, present), high)
    return Span(start.astimezone(now.tzinfo), end.astimezone(now.tzinfo))


def trailing(now: datetime, unit: str, count: int) -> Span:
    """Return the last `count` units up to now; days are whole, and today is one of them."""
    if unit not in _SECONDS:
        return Span(shift(midnight(now), unit, -count), period(now, "day").end)
    start = now.astimezone(UTC) - timedelta(seconds=_SECONDS[unit] * count)
    return Span(start.astimezone(now.tzinfo), now)


def leading(now: datetime, unit: str, count: int) -> Span:
    """Return the next `count` units from now; days are whole, and begin tomorrow."""
    if unit not in _SECONDS:
        tomorrow = period(now, "day").end
        return Span(tomorrow, shift(tomorrow, unit, count))
    end = now.astimezone(UTC) + timedelta(seconds=_SECONDS[unit] * count)
    return Span(now, end.astimezone(now.tzinfo))


def date_of(now: datetime, year: int, month: int, day: int) -> Span | None:
    """Return one day, or None where the calendar has no such day."""
    if not (1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]):
        return None
    return period(midnight(now).replace(year=year, month=month, day=day), "day")


def part(day: Span, name: str) -> Span:
    first, last = PARTS[name]
    return Span(day.start + timedelta(hours=first), day.start + timedelta(hours=last))


def weekday_of(week: Span, weekday: int) -> Span:
    return period(week.start + timedelta(days=weekday), "day")


def portion(whole: Span, index: int, parts: int) -> Span:
    """Cut whole days into `parts` and return one; what is too short to be cut stays whole."""
    days = (whole.end.date() - whole.start.date()).days
    if days < parts:
        return whole
    cuts = [days * cut // parts for cut in (index, index + 1)]
    return Span(*(whole.start + timedelta(days=cut) for cut in cuts))


def occurring(make: Yearly, now: datetime, which: str) -> Span | None:
    """Choose the year of what returns every year: by default the last one that has begun."""
    if which == "next":
        years = range(now.year - 1, now.year + _FARTHEST)
        return next((span for span in _made(make, years) if span.start > now), None)
    past = list(_made(make, range(now.year, now.year - _FARTHEST, -1)))
    if which == "last":
        return next((span for span in past if span.end <= now), None)
    begun = next((span for span in past if span.start <= now), None)
    return make(now.year) if which == "this" and not (begun and begun.end > now) else begun


def _made(make: Yearly, years: range) -> Iterator[Span]:
    return (span for year in years if (span := make(year)))


def is_sound(span: Span) -> bool:
    """Tell a span that can be asked for from an empty one, or one before there were recordings."""
    return span.start.year >= _FIRST_YEAR and span.start.timestamp() < span.end.timestamp()
