"""Calendar: the days and hours that speech names, before now or after it, on the owner's clock.

Also called: relative dates, temporal expressions.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from shared.domain.value import positional_value, value
from shared.domain.wall_clock import EVENING

Match = re.Match[str]
Unit = Literal["day", "evening", "week", "weekend", "month", "year"]

_WORDS: Mapping[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
"""The words for days, months, hours and stretches of time by how many of their units they lie from today's, in English
and in five other languages. French "hier" is German for here.
"""
_ORDINALS, _NUMBERS = (
    {word: n for n, word in enumerate(_WORDS[key].split(), key == "ordinals")}
    for key in ("ordinals", "numbers")
)
_MORNINGS, _AFTERNOONS, _NIGHTS = (
    frozenset(_WORDS[key].split()) for key in ("mornings", "afternoons", "nights")
)


def _list_stretches(key: str) -> dict[str, tuple[Unit, int]]:
    named = ((name.split(), words.split("|")) for name, words in _WORDS[key].items())
    return {word: (unit, int(offset)) for (unit, offset), words in named for word in words}


WEEKDAYS = {name: n for line in _WORDS["weekdays"] for n, name in enumerate(line.split())}
MONTHS = {name: n for line in _WORDS["months"] for n, name in enumerate(line.split(), 1)}
_OTHER_STRETCHES = _list_stretches("others")
_STRETCHES = _list_stretches("english") | _OTHER_STRETCHES
OTHER_DAYS = frozenset(
    [
        *(name for line in _WORDS["weekdays"][1:] for name in line.split()),
        *(word for word, (_, n) in _OTHER_STRETCHES.items() if n >= 0),
    ]
)
"""The words for a day in other languages than English, where a promise has no form of its own."""
DAY_WORDS = frozenset((*WEEKDAYS, *MONTHS, *_STRETCHES))
_MAX_DAYS_TO_A_NUMBER = 62
"""A 31st comes at least every second month."""


def _join(words: Iterable[str]) -> str:
    """Return alternatives, the longest first; Japanese has no ends of words."""
    ordered = sorted(words, key=len, reverse=True)
    spaced, unspaced = ([w for w in ordered if (w[0] >= "一") is kind] for kind in (False, True))
    return "|".join([rf"(?<![^\W_])(?:{'|'.join(spaced)})(?![^\W_])", *unspaced])


_DAY, _MONTH = (_WORDS[key][0].replace(" ", "|") for key in ("weekdays", "months"))
_ANY_MONTH = "|".join(MONTHS)
_MORNING = r"(?<!guten )(?<!am )(?<!jeden )(?<!por la )(?<!la )"
"""German and Spanish call the morning as they call tomorrow."""
_COMING = [w for w, (unit, n) in _STRETCHES.items() if n >= 0 and (unit in ("day", "evening") or n)]
_RELATIVE = re.compile(rf"{_MORNING}(?:{_join(_COMING)})")
_COMING_WEEK = re.compile(
    _join(w for w, (unit, n) in _STRETCHES.items() if unit == "week" and n >= 0)
)
_WEEKDAY = re.compile(_join(WEEKDAYS))
_IN = re.compile(rf"\bin (an?|\d{{1,3}}|{'|'.join(_NUMBERS)}) (day|week)s?\b")
_DAY_OF_NEXT_WEEK = re.compile(rf"\b(?:({_DAY})(?: of)? next week|next week(?: on)? ({_DAY}))\b")
_DATE = re.compile(
    rf"(?:\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|[.º])?(?: of| de)? (?P<month>{_ANY_MONTH})"
    rf"|(?P<month_before>{_MONTH}) (?:the )?(?P<day_after>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"|(?P<ordinal>{'|'.join([*_ORDINALS][::-1])}) of (?P<ordinal_month>{_MONTH}))\b(?:,? (?P<year>\d{{4}})\b)?"
    r"|(?P<iso>\b\d{4}-\d{2}-\d{2}\b)|(?P<japanese>(?<!\d)\d{1,2}月\d{1,2}日))"
)
_DOTTED = re.compile(r"(?<![\d.])(?P<dotted>\d{1,2}\.\d{1,2})\.(?: ?(?P<year>\d{4})\b|(?!\d))")
"""A date where one is asked for; elsewhere it may be a version."""
_NUMBERED_DAY = re.compile(
    rf"\b(?:(?:{_DAY}),? (?:the )?(\d{{1,2}})(?:st|nd|rd|th)\b"
    r"|(?:on|by|until|till|before) the (\d{1,2})(?:st|nd|rd|th)(?= at\b|[,.;:!?]|$))"
)
"""The number of a day without its month; before a noun it counts something else ("on the 5th floor")."""
_PAST = re.compile(
    rf"{_join(w for w, (unit, n) in _STRETCHES.items() if n <= 0 and unit != 'evening')}"
    r"|\b(?:(?:the )?(?:last|past) (?P<days>\d{1,2}) days"
    rf"|(?:on |last |am |letzten |el |le )(?P<weekday>{'|'.join(WEEKDAYS)})"
    rf"|(?:in |last |im |letzten |en )(?P<month>{_ANY_MONTH}))\b",
    re.IGNORECASE,
)
_BEFORE_DAYS = "on|by|next|this|until|am|bis|el|para el|le|avant"
_PARTS = sorted((*_MORNINGS, *_AFTERNOONS, *_NIGHTS), key=len)[::-1]
_HOUR = re.compile(
    r"\b(?:at|um|a las?|à|alle) (?P<hour>\d{1,2})(?: ?[:.h] ?(?P<minute>\d{2})\b)?(?: ?(?:o'clock|uhr|h(?:eures?)?)\b)?"
    rf"(?: ?(?:in the |at |de la |du |de l['’]|di |del )?(?P<part>[ap]\.m\b|{'|'.join(_PARTS)})(?!\w))?",
    re.IGNORECASE,
)
_JAPANESE_HOUR = re.compile(
    r"の?(?P<part>午前|午後|朝|夕方|夜)?(?P<hour>\d{1,2})時(?:(?P<minute>\d{1,2})分|(?P<half>半))?に?"
)
_FIRST_NIGHT_HOUR = 6
"""An earlier hour of the night is after midnight."""
_RELATIVE_WORDS = re.compile(
    rf",? *(?<![\w'-])(?<!the )(?:(?:{_BEFORE_DAYS}) ){{0,3}}"
    rf"(?:{'|'.join(p.pattern for p in (_DAY_OF_NEXT_WEEK, _RELATIVE, _IN))}"
    rf"|(?:{_WEEKDAY.pattern})(?! *,? *(?:the )?\d))(?:までに|まで|に|は)?",
    re.IGNORECASE,
)
"""The words for a day that is counted from the day they were said."""


@positional_value
class Moment:
    """A day that was named, with its words in lower case; `exact` if an hour was named with it."""

    at: datetime
    exact: bool
    words: str


@value
class Span:
    """Whole days from `start` to before `end`, as a question calls them."""

    phrase: str
    start: datetime
    end: datetime


def parse_start(data: Mapping[str, Any]) -> datetime:
    """Return when the conversation began, in the owner's zone."""
    _, _, clock = data["started_at"].partition(" ")  # behind the weekday
    return datetime.fromisoformat(clock).replace(tzinfo=ZoneInfo(data["time_zone"]))


def parse_moment(text: str, now: datetime) -> Moment | None:
    """Find the first day a sentence names, with its hour; without one, the evening of that day."""
    lower = text.lower().replace("’", "'")
    for pattern, read in _RULES:
        match = pattern.search(lower)
        day = read(match, now.date()) if match else None
        if match and day:
            hour = _parse_hour(lower)
            at = datetime.combine(day, hour or EVENING, now.tzinfo)
            return Moment(at, exact=hour is not None, words=match[0])
    return None


def drop_relative_days(text: str, *, mark: str = "") -> str:
    """Return a text without the words that mean another day once theirs has passed, if anything else is said.

    A `mark` stands where they were.
    """
    bare = " ".join(text.split())  # a run of blanks would be tried from each of them
    rest = " ".join(_RELATIVE_WORDS.sub(f"{mark} ", bare).split()).replace(" ,", ",")
    is_enough = len(rest.split()) > 1 or (rest and " " not in bare)  # Japanese has no blanks
    return rest.strip(" ,、") if is_enough else text


def find_past_span(question: str, now: datetime) -> Span | None:
    """Return the days that have begun; a week begins on Monday, a weekday is the last one."""
    match = _PAST.search(question)
    if match is None:
        return None
    today = now.date()
    if match["days"]:
        return _build_span(match[0], today - timedelta(int(match["days"]) - 1), today, now)
    if match["weekday"]:
        back = (today.weekday() - WEEKDAYS[match["weekday"].lower()] - 1) % 7 + 1
        stretch: tuple[Unit, int] = "day", -back
    elif match["month"]:
        stretch = "month", -((today.month - MONTHS[match["month"].lower()]) % 12)
    else:
        stretch = _STRETCHES[match[0].lower()]
    return _build_span(match[0], *_find_stretch(*stretch, today), now)


def find_past_phrase(question: str) -> str:
    """Return the words for a stretch of time; empty without any."""
    match = _PAST.search(question)
    return match[0] if match else ""


def drop_past_span(question: str) -> str:
    """Return what is asked of a stretch of time, without the words for it."""
    return _PAST.sub(" ", question, count=1)


def find_past_day(question: str, now: datetime) -> Span | None:
    """Return the last day that has begun of a date: "May 4th", "4 May", "4.5.", perhaps with a year, or "2026-05-04"."""
    lower = question.lower()
    match = _DATE.search(lower) or _DOTTED.search(lower)
    day = _read_date(match, now.date(), is_past=True) if match else None
    return (
        _build_span(question[match.start() : match.end()], day, day, now) if match and day else None
    )


def find_coming_span(question: str, now: datetime) -> Span | None:
    """Return the days to come, today among them; a weekday is the next one."""
    if match := _COMING_WEEK.search(question.lower()):
        return _build_span(match[0], *_find_stretch(*_STRETCHES[match[0]], now.date()), now)
    moment = parse_moment(question, now)
    return _build_span("", moment.at.date(), moment.at.date(), now) if moment else None


def parse_number(word: str) -> int:
    """Read digits, or a word up to ten; others are 0."""
    lower = word.lower()
    return int(lower) if lower.isdecimal() else _NUMBERS.get(lower, 0)


def _find_stretch(unit: Unit, offset: int, today: date) -> tuple[date, date]:
    """Return the first and the last day of what lies so many of its units from today's."""
    if unit in ("month", "year"):
        size, month = (12, 0) if unit == "year" else (1, today.month - 1)
        first = 12 * today.year + month + size * offset
        start, end = (date(n // 12, n % 12 + 1, 1) for n in (first, first + size))
        return start, end - timedelta(1)
    back, length = {"week": (today.weekday(), 6), "weekend": ((today.weekday() - 5) % 7, 1)}.get(
        unit, (0, 0)
    )
    start = today + timedelta((7 if unit == "week" else 1) * offset - back)
    return start, start + timedelta(length)


def _build_span(phrase: str, first: date, last: date, now: datetime) -> Span:
    start, end = (datetime.combine(day, time(), now.tzinfo) for day in (first, last + timedelta(1)))
    return Span(phrase=phrase, start=start, end=end)


def drop_hours(text: str) -> str:
    """Return a text without the times of day that it names."""
    return " ".join(_HOUR.sub(" ", _JAPANESE_HOUR.sub("", text)).split())


def _count_on(today: date, unit: str, count: int) -> date:
    return today + timedelta((7 if unit == "week" else 1) * count)


def _read_numbered_day(match: Match, today: date) -> date | None:
    """Read the number of a day as the next day with it."""
    days = (today + timedelta(n) for n in range(_MAX_DAYS_TO_A_NUMBER))
    return next((day for day in days if day.day == int(match[1] or match[2])), None)


def _read_date(match: Match, today: date, *, is_past: bool = False) -> date | None:
    """Read a date; without a year, as the next such day, or as the last that has begun."""
    found = {name: text for name, text in match.groupdict().items() if text}
    numbers = [int(n) for n in re.findall(r"\d+", match[0])]
    if "iso" in found:
        year, month, day = numbers
    elif "japanese" in found or "dotted" in found:
        year, (month, day) = 0, numbers[:2][:: -1 if "dotted" in found else 1]
    else:
        name = found.get("month") or found.get("month_before") or found["ordinal_month"]
        year, month = 0, MONTHS[name]
        day = _ORDINALS[found["ordinal"]] if "ordinal" in found else numbers[0]
    year = int(found.get("year", year))
    try:
        named = date(year or today.year, month, day)
        fits = named <= today if is_past else named >= today
        if fits or year:
            return named if fits else None
        if is_past:  # the year before has no 29 February
            return (named + timedelta(1)).replace(year=named.year - 1) - timedelta(1)
        return named.replace(year=named.year + 1)
    except ValueError:
        return None


def _parse_hour(text: str) -> time | None:
    """Read "at 3", "at 3:30 pm", "at noon", "um 8 Uhr abends", "à 20 h", "午後8時".

    1 to 7 without a part of the day is in the afternoon.
    """
    if "at noon" in text:
        return time(12)
    match = _HOUR.search(text) or _JAPANESE_HOUR.search(text)
    if match is None:
        return None
    found = match.groupdict()
    hour, minute = int(found["hour"]), 30 if found.get("half") else int(found["minute"] or 0)
    part = (found["part"] or "").replace(".", "")
    is_late = part in _AFTERNOONS or (part in _NIGHTS and hour >= _FIRST_NIGHT_HOUR)
    if hour < 12 and (is_late or (not part and not found["minute"] and hour < 8)):
        hour += 12
    elif hour == 12 and part and part not in _AFTERNOONS:
        hour = 0
    return time(hour, minute) if hour < 24 and minute < 60 else None


_RULES: tuple[tuple[re.Pattern[str], Callable[[Match, date], date | None]], ...] = (
    (_DATE, _read_date),
    (_NUMBERED_DAY, _read_numbered_day),
    (
        _DAY_OF_NEXT_WEEK,
        lambda match, today: (
            today + timedelta(7 - today.weekday() + WEEKDAYS[match[1] or match[2]])
        ),
    ),
    (_RELATIVE, lambda match, today: _count_on(today, *_STRETCHES[match[0]])),
    (
        _IN,
        lambda match, today: _count_on(
            today, match[2], 1 if match[1] in ("a", "an") else parse_number(match[1])
        ),
    ),
    (
        _WEEKDAY,
        lambda match, today: today + timedelta((WEEKDAYS[match[0]] - today.weekday() - 1) % 7 + 1),
    ),
)
