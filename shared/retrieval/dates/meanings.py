"""What a match of each rule stands for: the span that its words mean, seen from now."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from shared.retrieval.dates import words
from shared.retrieval.dates.holidays import celebrated
from shared.retrieval.dates.spans import (
    Span,
    away,
    date_of,
    leading,
    midnight,
    occurring,
    part,
    period,
    portion,
    shift,
    trailing,
    weekday_of,
)

Match = re.Match[str]

# Where 5/6/2023 is the sixth of May; everywhere else it is the fifth of June.
_MONTH_FIRST = frozenset(
    {f"America/{city}" for city in ("New_York", "Detroit", "Chicago", "Denver", "Boise")}
    | {f"America/{city}" for city in ("Phoenix", "Los_Angeles", "Anchorage")}
    | {"Pacific/Honolulu"}
)
_NAMED_DAYS = {
    "day before yesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1, "day after tomorrow": 2,
}  # fmt: skip


def _word(found: Match, group: str) -> str:
    return " ".join(
        (found.groupdict().get(group) or "").lower().replace("’", "'").rstrip(".").split()
    )


def named_day(found: Match, now: datetime) -> Span:
    return period(now, "day", _NAMED_DAYS[_word(found, "name")])


def part_of_day(found: Match, now: datetime) -> Span:
    name = _word(found, "part")
    last_night = name == "night" and _word(found, "which") == "last"
    return part(period(now, "day", -1 if last_night else 0), name)


def tonight(_: Match, now: datetime) -> Span:
    return part(period(now, "day"), "night")


def other_day(_: Match, now: datetime) -> Span:
    today = midnight(now)
    return Span(shift(today, "day", -7), today)


def which_period(found: Match, now: datetime) -> Span:
    which, unit = _word(found, "which"), _word(found, "unit")
    return trailing(now, unit, 1) if which == "past" else period(now, unit, words.OFFSETS[which])


def the_weekend(_: Match, now: datetime) -> Span:
    """Return the weekend that has begun last."""
    this = period(now, "weekend")
    return this if this.start <= now else period(now, "weekend", -1)


def before_last(found: Match, now: datetime) -> Span:
    return period(now, _word(found, "unit"), -2)


def ago(found: Match, now: datetime) -> Span:
    least, most = words.count(_word(found, "count"))
    unit = _word(found, "unit")
    return Span(away(now, unit, -most).start, away(now, unit, -least).end)


def ahead(found: Match, now: datetime) -> Span:
    least, most = words.count(_word(found, "count"))
    unit = _word(found, "unit")
    return Span(away(now, unit, least).start, away(now, unit, most).end)


def in_time(found: Match, now: datetime) -> Span | None:
    """Read "in two weeks"; "in a week" and "in a minute" say how long something takes."""
    return ahead(found, now) if words.count(_word(found, "count"))[1] > 1 else None


def half_hour(_: Match, now: datetime) -> Span:
    return away(now, "minute", -30)


def the_last(found: Match, now: datetime) -> Span:
    return trailing(now, _word(found, "unit"), words.count(_word(found, "count"))[1])


def the_next(found: Match, now: datetime) -> Span:
    return leading(now, _word(found, "unit"), words.count(_word(found, "count"))[1])


def weekday(found: Match, now: datetime) -> Span:
    """Return the last such day before today, unless a week or "next" says otherwise."""
    weekday, which = words.WEEKDAYS.index(_word(found, "name")), _word(found, "which")
    if week := _word(found, "week"):
        return weekday_of(period(now, "week", words.OFFSETS[week]), weekday)
    if which == "this":
        return weekday_of(period(now, "week"), weekday)
    if which == "next":
        return period(now, "day", (weekday - now.weekday() - 1) % 7 + 1)
    return period(now, "day", -((now.weekday() - weekday - 1) % 7 + 1))


def _yearly(found: Match, now: datetime, make: Callable[[int], Span | None]) -> Span | None:
    """Choose the year: the one that is said, or the one that "last", "next" or nothing implies."""
    said = found.groupdict()
    if said.get("year"):
        return make(int(said["year"]))
    if said.get("of"):
        return make(now.year + words.OFFSETS[said["of"].lower()])
    which = (said.get("which") or "").lower()
    return occurring(make, now, "last" if which in {"past", "previous"} else which)


def month(found: Match, now: datetime) -> Span | None:
    month = words.month_number(_word(found, "month"))
    return _yearly(found, now, lambda year: _months(now, year, month, 1))


def _months(now: datetime, year: int, month: int, length: int) -> Span:
    first = midnight(now).replace(year=year, month=month, day=1)
    return Span(first, shift(first, "month", length))


def month_day(found: Match, now: datetime) -> Span | None:
    month, day = words.month_number(_word(found, "month")), words.ordinal(_word(found, "day"))
    return _yearly(found, now, lambda year: date_of(now, year, month, day))


def day_range(found: Match, now: datetime) -> Span | None:
    month = words.month_number(_word(found, "month"))

    def days(year: int) -> Span | None:
        first = date_of(now, year, month, words.ordinal(_word(found, "day")))
        last = date_of(now, year, month, words.ordinal(_word(found, "until")))
        return Span(first.start, last.end) if first and last and first.start < last.end else None

    return _yearly(found, now, days)


def day_of_month(found: Match, now: datetime) -> Span | None:
    """Return the last such day of a month that has begun."""
    day = words.ordinal(_word(found, "day"))
    starts = (period(now, "month", -back).start for back in range(3))
    days = (date_of(now, first.year, first.month, day) for first in starts)
    return next((found for found in days if found and found.start <= now), None)


def iso(found: Match, now: datetime) -> Span | None:
    return date_of(now, int(found["year"]), int(found["month"]), int(found["day"]))


def iso_month(found: Match, now: datetime) -> Span | None:
    month = int(found["month"])
    return _months(now, int(found["year"]), month, 1) if 1 <= month <= 12 else None


def numeric(found: Match, now: datetime) -> Span | None:
    """Read day and month in the order of the owner's country, or in the only order there is."""
    day, month = int(found["one"]), int(found["two"])
    month_first = found["mark"] == "/" and str(now.tzinfo) in _MONTH_FIRST
    if (month_first and day <= 12) or month > 12:
        day, month = month, day
    year = int(found["year"])
    return date_of(now, year if year > 99 else 2000 + year, month, day)


def whole_year(found: Match, now: datetime) -> Span:
    return _months(now, int(found["year"]), 1, 12)


def season(found: Match, now: datetime) -> Span | None:
    month = words.SEASONS[_word(found, "season")]
    return _yearly(found, now, lambda year: _months(now, year, month, 3))


def quarter(found: Match, now: datetime) -> Span | None:
    number = _word(found, "quarter")
    index = int(number) if number.isdigit() else words.ordinal(number)
    return _yearly(found, now, lambda year: _months(now, year, index * 3 - 2, 3))


def decade(found: Match, now: datetime) -> Span:
    said = _word(found, "decade").strip("'")
    if (start := words.DECADES.get(said)) is None:
        number = int(said.rstrip("s"))
        start = number if number > 99 else number + (1900 if number >= 70 else 2000)
    return _months(now, start, 1, 120)


def holiday(found: Match, now: datetime) -> Span | None:
    name = _word(found, "holiday").replace("st. ", "st ").replace("years", "year's")
    return _yearly(found, now, lambda year: celebrated(name, now, year))


def narrowed(span: Span, name: str) -> Span:
    """Return a part of a day; of longer spans, and of hours, the whole."""
    return part(span, name) if span.end - span.start == timedelta(days=1) else span


def third(span: Span, name: str) -> Span:
    return portion(
        span, {"early": 0, "beginning": 0, "start": 0, "late": 2, "end": 2}.get(name, 1), 3
    )
