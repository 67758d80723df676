"""What a word in front of an expression makes of its span: "since", "the week before", "early"."""

import re
from collections.abc import Callable
from datetime import datetime

from shared.retrieval.dates import words
from shared.retrieval.dates.meanings import narrowed, third
from shared.retrieval.dates.spans import Span, midnight, period, portion, shift, weekday_of

Match = re.Match[str]
Compound = tuple[str, Callable[[Match, Span, datetime], Span | None]]


def _since(_: Match, span: Span, now: datetime) -> Span:
    return Span(span.start, period(now, "day").end)


def _after(_: Match, span: Span, now: datetime) -> Span:
    return Span(span.end, period(now, "day").end)


def _before(_: Match, span: Span, now: datetime) -> Span:
    return Span(_beginning(now), span.start)


def _shortly_before(_: Match, span: Span, __: datetime) -> Span:
    return Span(shift(span.start, "week", -1), span.start)


def _shortly_after(_: Match, span: Span, __: datetime) -> Span:
    return Span(span.end, shift(span.end, "week", 1))


def _until(_: Match, span: Span, now: datetime) -> Span:
    return Span(_beginning(now), span.end)


def _beginning(now: datetime) -> datetime:
    return midnight(now).replace(year=1970, month=1, day=1)


def _unit_before(found: Match, span: Span, _: datetime) -> Span:
    """Return the unit that ends where the span begins, or one that is further back."""
    unit, count = found["unit"].lower(), _count(found)
    if unit == "weekend":
        weekend = period(span.start, unit)
        return weekend if weekend.end <= span.start else period(span.start, unit, -1)
    return Span(shift(span.start, unit, -count), shift(span.start, unit, 1 - count))


def _unit_after(found: Match, span: Span, _: datetime) -> Span:
    unit, count = found["unit"].lower(), _count(found)
    if unit == "weekend":
        weekend = period(span.end, unit)
        return weekend if weekend.start >= span.end else period(span.end, unit, 1)
    return Span(shift(span.end, unit, count - 1), shift(span.end, unit, count))


def _count(found: Match) -> int:
    return max(1, words.count((found.groupdict().get("count") or "one").lower())[1])


def _unit_of(found: Match, span: Span, _: datetime) -> Span:
    return period(span.start, found["unit"].lower())


def _third(found: Match, span: Span, _: datetime) -> Span:
    return third(span, found["third"].lower())


def _half(found: Match, span: Span, _: datetime) -> Span:
    return portion(span, int(found["half"].lower() == "second"), 2)


def _nth_week(found: Match, span: Span, _: datetime) -> Span | None:
    """Count weeks from the first day, so that the first week of June begins on the 1st."""
    if found["nth"].lower() == "last":
        return _within(Span(shift(span.end, "week", -1), span.end), span)
    start = shift(span.start, "week", words.ordinal(found["nth"].lower()) - 1)
    return _within(Span(start, min(shift(start, "week", 1), span.end)), span)


def _nth_weekday(found: Match, span: Span, _: datetime) -> Span | None:
    weekday, nth = words.WEEKDAYS.index(found["name"].lower()), found["nth"].lower()
    if nth == "last":
        day = weekday_of(period(span.end, "week"), weekday)
        back = 0 if day.end <= span.end else -7
        return _within(period(day.start, "day", back), span)
    ahead = (weekday - span.start.weekday()) % 7 + 7 * (words.ordinal(nth) - 1)
    return _within(period(span.start, "day", ahead), span)


def _within(found: Span, whole: Span) -> Span | None:
    return found if whole.start <= found.start and found.end <= whole.end else None


def _part_of(found: Match, span: Span, _: datetime) -> Span:
    return narrowed(span, found["part"].lower())


_NTH = "(?P<nth>first|second|third|fourth|fifth|last)"
_DAYS = "(?P<unit>day|weekend|week|fortnight|month|quarter|year)s?"
_NUMBER = words.NUMBER.replace("|an?", "|an?|the")

IN = "(?:back )?(?:in|during|over|at|on|throughout|around|of|from(?!.* onwards?))"
COMPOUNDS: tuple[Compound, ...] = (
    ("(?:ever )?since|from(?=.* onwards?)", _since),
    ("(?:any ?time )?after", _after),
    ("(?:any ?time )?(?:before|prior to)", _before),
    ("until|till|up to|up until", _until),
    (rf"(?:{_NUMBER} )?{_DAYS} (?:before|preceding)", _unit_before),
    (rf"(?:{_NUMBER} )?{_DAYS} (?:after|following)", _unit_after),
    ("(?:just|right|shortly) before", _shortly_before),
    ("(?:just|right|shortly) after", _shortly_after),
    ("(?:the )?(?P<unit>day|week|weekend|month|quarter|year) of", _unit_of),
    ("(?:in )?(?:the )?(?P<third>early|mid|late)[- ]?(?:in )?", _third),
    ("(?:at |in )?(?:the )?(?P<third>beginning|start|middle|end) of", _third),
    ("(?:the )?(?P<half>first|second) half of", _half),
    (rf"(?:the )?{_NTH} week (?:of|in)", _nth_week),
    (rf"(?:the )?{_NTH} (?P<name>{words.DAY}) (?:of|in)", _nth_weekday),
    ("(?:in )?(?:the )?(?P<part>morning|afternoon|evening|night) (?:of|on)", _part_of),
)  # fmt: skip
RANGE = ("(?:any ?time )?(?:between|from)", "and|to|until|till|through|[-–]")
PART = r",?(?: (?:in the|at))? (?P<part>morning|afternoon|evening|night|noon|midday|lunchtime)"
