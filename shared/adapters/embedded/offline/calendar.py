"""Calendar: days and hours as English speech names them, in the speaker's time zone.

Also called: relative dates.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from shared.domain.value import positional_value
from shared.domain.wall_clock import EVENING

Match = re.Match[str]
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_OTHER_WEEKDAYS = (
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "lunes martes miércoles jueves viernes sábado domingo",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日",
)
WEEKDAY_NAMES = {
    name: number
    for names in (WEEKDAYS, *(line.split() for line in _OTHER_WEEKDAYS))
    for number, name in enumerate(names)
}
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_MAX_DAYS_TO_A_NUMBER = 62
"""A 31st comes at least every second month."""
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_MONTH = "|".join(MONTHS)
_DAY = "|".join(WEEKDAYS)
_ANY_DAY = rf"\b(?:{'|'.join(n for n in WEEKDAY_NAMES if n.isalpha() and n[-1] != '日')})\b|[月火水木金土日]曜日"
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
    "eighteenth", "nineteenth", "twentieth", *(f"twenty-{unit}" for unit in (
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")),
    "thirtieth", "thirty-first",
)  # fmt: skip

_ENGLISH_DAYS = {
    "day after tomorrow": 2, "tomorrow": 1, "tonight": 0, "today": 0, "next week": 7,
}  # fmt: skip
_RELATIVE_DAYS = {
    **_ENGLISH_DAYS,
    "übermorgen": 2, "morgen": 1, "heute": 0, "nächste woche": 7,
    "pasado mañana": 2, "mañana": 1, "hoy": 0, "esta noche": 0, "esta tarde": 0, "la próxima semana": 7,
    "après-demain": 2, "demain": 1, "aujourd'hui": 0, "ce soir": 0, "cet après-midi": 0, "la semaine prochaine": 7,
    "dopodomani": 2, "domani": 1, "oggi": 0, "stasera": 0, "la prossima settimana": 7,
    "明後日": 2, "明日": 1, "今日": 0, "今夜": 0, "今晩": 0, "来週": 7,
}  # fmt: skip
OTHER_DAYS = frozenset((*WEEKDAY_NAMES, *_RELATIVE_DAYS)).difference(WEEKDAYS, _ENGLISH_DAYS)
"""The words for a day in other languages than English, where a promise has no form of its own."""
_MORNING = r"(?<!guten )(?<!am )(?<!jeden )(?<!por la )(?<!la )"
"""German and Spanish call the morning as they call tomorrow."""
_RELATIVE = re.compile(rf"{_MORNING}(?<![a-zäöüñ])(?:{'|'.join(_RELATIVE_DAYS)})(?![a-zäöüñ])")
_IN = re.compile(rf"\bin (an?|\d{{1,3}}|{'|'.join(_NUMBERS)}) (day|week)s?\b")
_WEEKDAY = re.compile(_ANY_DAY)
_DAY_OF_NEXT_WEEK = re.compile(rf"\b(?:({_DAY})(?: of)? next week|next week(?: on)? ({_DAY}))\b")
_MONTH_DAY = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})"
    rf"|({_MONTH}) (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?|({'|'.join(_ORDINALS)}) of ({_MONTH}))\b"
)
_DATE = re.compile(
    rf"{_MONTH_DAY.pattern}(?:,? (?P<year>\d{{4}})\b)?"
    r"|(?<![\d.])(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?: ?(?P<dotted_year>\d{4})\b|(?!\d))"
    r"|\b(?P<iso>\d{4}-\d{2}-\d{2})\b"
)
_NUMBERED_DAY = re.compile(
    rf"\b(?:(?:{_DAY}),? (?:the )?(\d{{1,2}})(?:st|nd|rd|th)\b"
    r"|(?:on|by|until|till|before) the (\d{1,2})(?:st|nd|rd|th)(?= at\b|[,.;:!?]|$))"
)
"""The number of a day without its month; before a noun it counts something else ("on the 5th floor")."""
_BEFORE_DAYS = "on|by|next|this|until|am|bis|el|para el|le|avant"
_HOURS = (
    r"\bat (?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?(?: o'clock)?(?:\s*(?P<half>[ap]\.?m)\b| (?:in the|at) (?P<part>\w+))?",
    r"\bum (?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?(?: uhr)?(?: (?P<part>\w+s|früh)\b)?",
    r"\ba las? (?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?(?: de la (?P<part>\w+))?",
    r"\bà (?P<hour>\d{1,2}) ?h(?:eures?)?(?: ?(?P<minute>\d{2})\b)?(?: (?:du |de l['’])(?P<part>[\w-]+))?",
    r"\balle (?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?(?: (?:di|del) (?P<part>\w+))?",
    r"の?(?P<part>午前|午後|朝|夕方|夜)?(?P<hour>\d{1,2})時(?:(?P<minute>\d{1,2})分)?に?",
)
_HOUR = [re.compile(pattern, re.IGNORECASE) for pattern in _HOURS]
_AFTERNOONS = frozenset(
    {"pm", "afternoon", "evening", "nachmittags", "abends", "tarde", "soir", "après-midi", "pomeriggio", "sera"}
    | {"午後", "夕方"}
)  # fmt: skip
_MORNINGS = frozenset(
    {"am", "morning", "morgens", "früh", "vormittags", "mañana", "matin", "mattina", "午前", "朝"}
)
_NIGHTS = frozenset({"night", "nachts", "noche", "notte", "夜"})
_FIRST_NIGHT_HOUR = 6
"""An earlier hour of the night is after midnight."""


@positional_value
class Moment:
    """A day that was named, with its words in lower case; `exact` if an hour was named with it."""

    at: datetime
    exact: bool
    words: str


def parse_start(data: Mapping[str, Any]) -> datetime:
    """Return when the conversation began, in the owner's zone."""
    _, _, clock = data["started_at"].partition(" ")  # behind the weekday
    return datetime.fromisoformat(clock).replace(tzinfo=ZoneInfo(data["time_zone"]))


def parse_moment(text: str, now: datetime) -> Moment | None:
    """Find the first day a sentence names, with its hour; without one, the evening of that day."""
    lower = text.lower()
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
    rest = " ".join(_AFTER_DAYS.sub(f"{mark} ", bare).split()).replace(" ,", ",")
    is_enough = len(rest.split()) > 1 or (rest and " " not in bare)  # Japanese has no blanks
    return rest.strip(" ,、") if is_enough else text


def _read_relative_day(match: Match, today: date) -> date:
    return today + timedelta(_RELATIVE_DAYS[match[0]])


def _read_in_days(match: Match, today: date) -> date:
    count = 1 if match[1] in ("a", "an") else parse_number(match[1])
    return today + timedelta(count * (7 if match[2] == "week" else 1))


def parse_number(word: str) -> int:
    """Read digits, or a word up to ten; others are 0."""
    lower = word.lower()
    if lower.isdecimal():
        return int(lower)
    return _NUMBERS.index(lower) if lower in _NUMBERS else 0


def _read_day_of_next_week(match: Match, today: date) -> date:
    return today + timedelta(7 - today.weekday() + WEEKDAYS.index(match[1] or match[2]))


def _read_weekday(match: Match, today: date) -> date:
    """Read a weekday as the next one to come, with or without "next"."""
    return today + timedelta((WEEKDAY_NAMES[match[0]] - today.weekday() - 1) % 7 + 1)


def _read_month_day(match: Match, today: date) -> date | None:
    """Read a day of this year, or of the next where it has passed."""
    month, day = _read_month_and_day(match)
    try:
        this_year = date(today.year, month, day)
        return this_year if this_year >= today else date(today.year + 1, month, day)
    except ValueError:
        return None


def _read_month_and_day(match: Match) -> tuple[int, int]:
    number = match[1] or match[4]
    day = int(number) if number else _ORDINALS.index(match[5]) + 1
    return MONTHS.index(match[2] or match[3] or match[6]) + 1, day


def find_past_date(text: str, now: datetime) -> tuple[str, date] | None:
    """Find the date of a text: its words, and the last such day that has begun.

    It is written "May 4th", "4 May", "4.5.", perhaps with a year, or "2026-05-04".
    """
    match = _DATE.search(text.lower())
    day = _read_past_date(match, now.date()) if match else None
    return (text[match.start() : match.end()], day) if match and day else None


def _read_past_date(match: Match, today: date) -> date | None:
    year, month, day = _read_date(match)
    try:
        named = date(today.year if year is None else year, month, day)
    except ValueError:
        return None
    if named <= today:
        return named
    return _move_back(named) if year is None else None


def _read_date(match: Match) -> tuple[int | None, int, int]:
    if match["iso"]:
        return int(match["iso"][:4]), int(match["iso"][5:7]), int(match["iso"][8:])
    year = match["year"] or match["dotted_year"]
    is_dotted = match["month"] is not None
    month, day = (
        (int(match["month"]), int(match["day"])) if is_dotted else _read_month_and_day(match)
    )
    return int(year) if year else None, month, day


def drop_hours(text: str) -> str:
    """Return a text without the times of day that it names."""
    for pattern in _HOUR:
        text = pattern.sub(" ", text)
    return " ".join(text.split())


def _move_back(day: date) -> date:
    """Return the same day a year before; of a leap day, the one before the next month."""
    return (day + timedelta(1)).replace(year=day.year - 1) - timedelta(1)


def _read_numbered_day(match: Match, today: date) -> date | None:
    """Read the number of a day as the next day with it."""
    number = int(match[1] or match[2])
    days = (today + timedelta(n) for n in range(_MAX_DAYS_TO_A_NUMBER))
    return next((day for day in days if day.day == number), None)


def _parse_hour(text: str) -> time | None:
    """Read "at 3", "at 3:30 pm", "at noon", "um 8 Uhr abends", "à 20 h", "午後8時".

    1 to 7 without a part of the day is in the afternoon.
    """
    if "at noon" in text:
        return time(12)
    match = next(filter(None, (pattern.search(text) for pattern in _HOUR)), None)
    if match is None:
        return None
    found = match.groupdict()
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    part = (found.get("half") or "").replace(".", "") or found["part"]
    is_told = part in _AFTERNOONS or part in _MORNINGS or part in _NIGHTS
    is_late = part in _AFTERNOONS or (part in _NIGHTS and hour >= _FIRST_NIGHT_HOUR)
    if hour < 12 and (is_late or (not is_told and not found["minute"] and hour < 8)):
        hour += 12
    elif hour == 12 and is_told and part not in _AFTERNOONS:
        hour = 0
    return time(hour, minute) if hour < 24 and minute < 60 else None


_AFTER_DAYS = re.compile(
    rf",? *(?<![\w'-])(?<!the )(?:(?:{_BEFORE_DAYS}) ){{0,3}}"
    rf"(?:{'|'.join(p.pattern for p in (_DAY_OF_NEXT_WEEK, _RELATIVE, _IN))}"
    rf"|(?:{_WEEKDAY.pattern})(?! *,? *(?:the )?\d))(?:までに|まで|に|は)?",
    re.IGNORECASE,
)
"""The words for a day that is counted from the day they were said."""
_RULES: tuple[tuple[re.Pattern[str], Callable[[Match, date], date | None]], ...] = (
    (_MONTH_DAY, _read_month_day),
    (_NUMBERED_DAY, _read_numbered_day),
    (_DAY_OF_NEXT_WEEK, _read_day_of_next_week),
    (_RELATIVE, _read_relative_day),
    (_IN, _read_in_days),
    (_WEEKDAY, _read_weekday),
)
