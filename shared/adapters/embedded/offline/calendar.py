"""Calendar: the days and hours that speech names, before now or after it, on the owner's clock.

Also called: relative dates, temporal expressions.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from shared.domain.value import positional_value, value
from shared.domain.wall_clock import EVENING

Match = re.Match[str]
Unit = Literal["day", "evening", "week", "weekend", "month", "year"]
Days = tuple[date, date]

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
_ENGLISH, _OTHERS = (
    {
        word: (unit, int(offset))
        for stretch, words in _WORDS[key].items()
        for unit, offset in [stretch.split()]
        for word in words.split("|")
    }
    for key in ("english", "others")
)
_STRETCHES: Mapping[str, tuple[Unit, int]] = {**_ENGLISH, **_OTHERS}
WEEKDAYS = {name: n for line in _WORDS["weekdays"] for n, name in enumerate(line.split())}
MONTHS = {name: n for line in _WORDS["months"] for n, name in enumerate(line.split(), 1)}
OTHER_DAYS = frozenset(
    chain([*WEEKDAYS][7:], (word for word, (_, offset) in _OTHERS.items() if offset >= 0))
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


_DAY, _MONTH, _ANY_MONTH = _join(WEEKDAYS), _WORDS["months"][0].replace(" ", "|"), "|".join(MONTHS)
_COUNT = rf"(?:an?|\d{{1,3}}|{'|'.join(_NUMBERS)})"
_MORNING = r"(?<!guten )(?<!am )(?<!jeden )(?<!por la )(?<!la )"
"""German and Spanish call the morning as they call tomorrow."""
_DATE = (
    rf"(?:(?:{_DAY}),? )?(?:\b(?:\d{{1,2}}(?:st|nd|rd|th|er|[.º])?(?: of| de)? (?:{_ANY_MONTH})"
    rf"|(?:{_MONTH}) (?:the )?\d{{1,2}}(?:st|nd|rd|th)?|(?:{'|'.join([*_ORDINALS][::-1])}) of (?:{_MONTH}))"
    r"\b(?:,? \d{4}\b)?|\b\d{4}-\d{2}-\d{2}\b|(?<!\d)\d{1,2}月\d{1,2}日)"
)
_DOTTED = r"(?<![\d.])\d{1,2}\.\d{1,2}\.(?: ?\d{4}\b|(?!\d))"
"""A date where one is asked for; elsewhere it may be a version."""
_NUMBERED = (
    rf"(?:{_DAY}),? (?:the )?\d{{1,2}}(?:st|nd|rd|th)\b"
    r"|\b(?:on|by|until|till|before) the \d{1,2}(?:st|nd|rd|th)(?= at\b|[,.;:!?]|$)"
)
"""The number of a day without its month; before a noun it counts something else ("on the 5th floor")."""
_DAY_OF_NEXT_WEEK = rf"(?:{_DAY})(?: of)? next week\b|\bnext week(?: on)? (?:{_DAY})"
_IN = rf"\bin {_COUNT} (?:day|week)s?\b"
_LATER, _EARLIER = (
    _join(
        word for word, (unit, offset) in _STRETCHES.items() if unit in units and offset * way >= 0
    )
    for way, units in (
        (1, ("day", "evening", "week")),
        (-1, ("day", "week", "weekend", "month", "year")),
    )
)
_COMING = re.compile(
    rf"(?P<coming_date>{_DATE})|(?P<number>{_NUMBERED})|(?P<day_of_next_week>{_DAY_OF_NEXT_WEEK})"
    rf"|{_MORNING}(?P<stretch>{_LATER})|(?P<days_on>{_IN})|(?P<weekday>{_DAY})"
)
_PAST = re.compile(
    rf"(?P<past_date>{_DATE}|{_DOTTED})|(?P<last_days>(?:\bthe )?\b(?:last|past) \d{{1,2}} days\b)"
    rf"|(?P<past_weekday>\b(?:on|last|am|letzten|el|le) (?:{_DAY}))"
    rf"|(?P<past_month>\b(?:in|last|im|letzten|en) (?:{_ANY_MONTH})\b)|(?P<stretch>{_EARLIER})"
)
_RELATIVE_WORDS = re.compile(
    r",? *(?<![\w'-])(?<!the )(?:(?:on|by|next|this|until|am|bis|el|para el|le|avant) ){0,3}"
    rf"(?:{_DAY_OF_NEXT_WEEK}|{_MORNING}(?:{_LATER})|{_IN}|(?:{_DAY})(?! *,? *(?:the )?\d))(?:までに|まで|に|は)?",
    re.IGNORECASE,
)
"""The words for a day that is counted from the day they were said."""
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


@positional_value
class Moment:
    """A day that was named, with its words in lower case; `exact` if an hour was named with it."""

    at: datetime
    exact: bool
    words: str


@value
class Span:
    """Whole days from `start` to before `end`, as a text calls them; perhaps by a date."""

    phrase: str
    start: datetime
    end: datetime
    is_date: bool


def parse_moment(text: str, now: datetime) -> Moment | None:
    """Find the first day to come that a sentence names, with its hour; without one, the evening of that day."""
    today = now.date()
    for match, (first, last) in _find_days(_COMING, text, today):
        if first == last or first > today:
            day = max(first, min(last, today + timedelta(7)))
            hour = _parse_hour(match.string)
            at = datetime.combine(day, hour or EVENING, now.tzinfo)
            return Moment(at, exact=hour is not None, words=match[0])
    return None


def find_span(text: str, now: datetime, *, is_past: bool) -> Span | None:
    """Find the first days that a text names: those that have begun, or those to come; a week begins on Monday."""
    for match, days in _find_days(_PAST if is_past else _COMING, text, now.date()):
        last_end = (days[0], days[1] + timedelta(1))
        start, end = (datetime.combine(day, time(), now.tzinfo) for day in last_end)
        phrase = (text if len(text) == len(match.string) else match.string)[slice(*match.span())]
        return Span(phrase=phrase, start=start, end=end, is_date=match.lastgroup == "past_date")
    return None


def is_time(text: str) -> bool:
    """Tell whether a text is the words for a time, and nothing more."""
    return any(pattern.fullmatch(text.lower()) for pattern in (_PAST, _COMING))


def _find_days(pattern: re.Pattern[str], text: str, today: date) -> Iterator[tuple[Match, Days]]:
    """Yield the first and the last day of each match, in lower case; none of a day that is on no calendar."""
    lower = text.lower().replace("’", "'")
    for match in pattern.finditer(lower):
        if days := _READERS[match.lastgroup or ""](match[0], today):
            yield match, days if isinstance(days, tuple) else (days, days)


def drop_relative_days(text: str, *, mark: str = "") -> str:
    """Return a text without the words that mean another day once theirs has passed, if anything else is said.

    A `mark` stands where they were.
    """
    bare = " ".join(text.split())  # a run of blanks would be tried from each of them
    rest = " ".join(_RELATIVE_WORDS.sub(f"{mark} ", bare).split()).replace(" ,", ",")
    is_enough = len(rest.split()) > 1 or (rest and " " not in bare)  # Japanese has no blanks
    return rest.strip(" ,、") if is_enough else text


def drop_hours(text: str) -> str:
    """Return a text without the times of day that it names."""
    return " ".join(_HOUR.sub(" ", _JAPANESE_HOUR.sub("", text)).split())


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


def _find_weekday(words: str) -> int:
    return next(WEEKDAYS[word] for word in words.split() if word in WEEKDAYS)


def _read_number(words: str, today: date) -> date | None:
    """Read the number of a day as the next day with it."""
    number = int("".join(filter(str.isdecimal, words)))
    days = (today + timedelta(n) for n in range(_MAX_DAYS_TO_A_NUMBER))
    return next((day for day in days if day.day == number), None)


def _read_date(words: str, today: date, *, is_past: bool = False) -> date | None:
    """Read a date; without a year, as the next such day, or as the last that has begun."""
    named = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", words)
    numbers = [_ORDINALS[word] for word in named if word in _ORDINALS]
    numbers += map(int, re.findall(r"\d+", words))
    if months := [MONTHS[word] for word in named if word in MONTHS]:
        numbers.insert(1, months[0])
    elif "-" in words or "月" in words:
        numbers.reverse()  # the day stands last
    day, month, year = (*numbers, 0)[:3]
    for each in [year] if year else [today.year, today.year + (-1 if is_past else 1)]:
        with suppress(ValueError):  # not every year has a 29 February
            found = date(each, month, day)
            if found == today or (found < today) is is_past:
                return found
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


_READERS: Mapping[str, Callable[[str, date], Days | date | None]] = {
    "coming_date": _read_date,
    "past_date": partial(_read_date, is_past=True),
    "number": _read_number,
    "stretch": lambda words, today: _find_stretch(*_STRETCHES[words], today),
    "days_on": lambda words, today: (
        today + timedelta((parse_number(words.split()[1]) or 1) * (7 if "week" in words else 1))
    ),
    "weekday": lambda words, today: (
        today + timedelta((_find_weekday(words) - today.weekday() - 1) % 7 + 1)
    ),
    "day_of_next_week": lambda words, today: (
        today + timedelta(7 - today.weekday() + _find_weekday(words))
    ),
    "past_weekday": lambda words, today: (
        today - timedelta((today.weekday() - _find_weekday(words) - 1) % 7 + 1)
    ),
    "past_month": lambda words, today: _find_stretch(
        "month", -((today.month - MONTHS[words.split()[-1]]) % 12), today
    ),
    "last_days": lambda words, today: (today - timedelta(int(words.split()[-2]) - 1), today),
}
"""What the words of a group mean, seen from a day."""
