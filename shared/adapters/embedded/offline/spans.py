"""Spans: the stretch of time that a question names, before now or after it, on the owner's clock."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta

from shared.adapters.embedded.offline.calendar import (
    MONTHS,
    WEEKDAY_NAMES,
    find_past_date,
    parse_moment,
)
from shared.domain.value import value

_DAY_NAMES = "|".join(WEEKDAY_NAMES)
_SAME_WORDS: Mapping[str, Sequence[str]] = {
    "today": ("heute", "hoy", "aujourd'hui", "今日"),
    "yesterday": ("gestern", "ayer", "昨日"),
    "this week": ("diese woche", "esta semana", "cette semaine", "今週"),
    "last week": ("letzte woche", "la semana pasada", "la semaine dernière", "先週"),
    "this month": ("diesen monat", "este mes", "ce mois-ci", "今月"),
    "last month": ("letzten monat", "el mes pasado", "le mois dernier", "先月"),
    "this year": ("dieses jahr", "este año", "cette année", "今年"),
    "last year": ("letztes jahr", "el año pasado", "l'année dernière", "去年"),
}
"""Without French "hier", which is a German word for here."""
_ENGLISH = {other: english for english, others in _SAME_WORDS.items() for other in others}
_PAST = re.compile(
    rf"\b(?:today|this morning|yesterday|(?:this|last|past) (?:week|month|weekend|year)"
    rf"|(?:the )?(?:last|past) (?P<days>\d{{1,2}}) days|{'|'.join(o for o in _ENGLISH if o[0] < '一')}"
    rf"|(?:on |last |am |letzten |el |le )(?P<weekday>{_DAY_NAMES})"
    rf"|(?:in |last )(?P<month>{'|'.join(MONTHS)}))\b|{'|'.join(o for o in _ENGLISH if o[0] >= '一')}",
    re.IGNORECASE,
)
_COMING_WEEK = re.compile(r"\b(this|next) week\b", re.IGNORECASE)


@value
class Span:
    """Whole days from `start` to before `end`, as the question calls them."""

    phrase: str
    start: datetime
    end: datetime


def find_past_span(question: str, now: datetime) -> Span | None:
    """Return the days that have begun; a week begins on Monday, a weekday is the last one."""
    match = _PAST.search(question)
    if match is None:
        return None
    phrase, today = match[0].lower(), now.date()
    if match["days"]:
        days = today - timedelta(int(match["days"]) - 1), today
    elif match["weekday"]:
        day = today - timedelta(
            (today.weekday() - WEEKDAY_NAMES[match["weekday"].lower()] - 1) % 7 + 1
        )
        days = day, day
    elif match["month"]:
        days = _find_month(MONTHS.index(match["month"].lower()) + 1, today)
    else:
        english = _ENGLISH.get(phrase, phrase.replace("past ", "last "))
        days = _NAMED_DAYS[english](today)
    return _build_span(match[0], *days, now)


def drop_past_span(question: str) -> str:
    """Return what is asked of a stretch of time, without the words for it."""
    return _PAST.sub(" ", question, count=1)


def find_past_day(question: str, now: datetime) -> Span | None:
    """Return the day that a question calls by its date."""
    found = find_past_date(question, now)
    return _build_span(found[0], found[1], found[1], now) if found else None


def find_past_phrase(question: str) -> str:
    """Return the words for a stretch of time; empty without any."""
    match = _PAST.search(question)
    return match[0] if match else ""


def find_coming_span(question: str, now: datetime) -> Span | None:
    """Return the days to come, today among them; a weekday is the next one."""
    today = now.date()
    if match := _COMING_WEEK.search(question):
        monday = today - timedelta(today.weekday())
        first = monday if match[1].lower() == "this" else monday + timedelta(7)
        return _build_span(match[0], first, first + timedelta(6), now)
    moment = parse_moment(question, now)
    return _build_span("", moment.at.date(), moment.at.date(), now) if moment else None


def _build_span(phrase: str, first: date, last: date, now: datetime) -> Span:
    start, end = (datetime.combine(day, time(), now.tzinfo) for day in (first, last + timedelta(1)))
    return Span(phrase=phrase, start=start, end=end)


def _find_month(month: int, today: date) -> tuple[date, date]:
    """Return the first and the last day of the last such month that has begun."""
    year = today.year if month <= today.month else today.year - 1
    first = date(year, month, 1)
    return first, (first + timedelta(31)).replace(day=1) - timedelta(1)


def _find_last_month(today: date) -> tuple[date, date]:
    last = today.replace(day=1) - timedelta(1)
    return last.replace(day=1), last


def _find_week(today: date) -> tuple[date, date]:
    monday = today - timedelta(today.weekday())
    return monday, monday + timedelta(6)


def _find_weekend(today: date) -> tuple[date, date]:
    saturday = today - timedelta((today.weekday() - 5) % 7)
    return saturday, saturday + timedelta(1)


_NAMED_DAYS: dict[str, Callable[[date], tuple[date, date]]] = {
    "today": lambda today: (today, today),
    "this morning": lambda today: (today, today),
    "yesterday": lambda today: (today - timedelta(1), today - timedelta(1)),
    "this week": _find_week,
    "last week": lambda today: _find_week(today - timedelta(7)),
    "this weekend": _find_weekend,
    "last weekend": _find_weekend,
    "this month": lambda today: _find_month(today.month, today),
    "last month": _find_last_month,
    "this year": lambda today: (date(today.year, 1, 1), date(today.year, 12, 31)),
    "last year": lambda today: (date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)),
}
