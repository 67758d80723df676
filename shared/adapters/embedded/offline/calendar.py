"""Calendar: the days and hours that speech names, before now or after it, on the owner's clock.

Also called: relative dates, temporal expressions.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

from shared.domain.value import positional_value, value
from shared.domain.wall_clock import EVENING

Match = re.Match[str]
Unit = Literal["day", "evening", "week", "weekend", "month", "year"]

_DAY_NAMES = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "lunes martes miércoles jueves viernes sábado domingo",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日",
)
_MONTH_NAMES = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
)
_NAMED: Mapping[tuple[Unit, int], tuple[str, str]] = {
    ("day", -2): ("day before yesterday", "vorgestern|anteayer|avant-hier|l'altro ieri|一昨日"),
    ("day", -1): ("yesterday", "gestern|ayer|ieri|昨日"),
    ("day", 0): ("today|this morning", "heute|hoy|aujourd'hui|oggi|今日"),
    ("evening", 0): ("tonight", "esta noche|esta tarde|ce soir|cet après-midi|stasera|今夜|今晩"),
    ("day", 1): ("tomorrow", "morgen|mañana|demain|domani|明日"),
    ("day", 2): ("day after tomorrow", "übermorgen|pasado mañana|après-demain|dopodomani|明後日"),
    ("week", -1): ("last week|past week", "letzte woche|la semana pasada|la semaine dernière|la settimana scorsa|先週"),
    ("week", 0): ("this week", "diese woche|esta semana|cette semaine|questa settimana|今週"),
    ("week", 1): ("next week", "nächste woche|la próxima semana|la semaine prochaine|la prossima settimana|来週"),
    ("weekend", 0): ("this weekend|last weekend|past weekend", "letztes wochenende"),
    ("month", -1): ("last month|past month", "letzten monat|el mes pasado|le mois dernier|il mese scorso|先月"),
    ("month", 0): ("this month", "diesen monat|este mes|ce mois-ci|questo mese|今月"),
    ("year", -1): ("last year|past year", "letztes jahr|el año pasado|l'année dernière|l'anno scorso|去年"),
    ("year", 0): ("this year", "dieses jahr|este año|cette année|quest'anno|今年"),
}  # fmt: skip
"""The words for a stretch of time, in English and in five other languages. French "hier" is German for here."""
WEEKDAYS = {name: number for line in _DAY_NAMES for number, name in enumerate(line.split())}
MONTHS = {name: number for line in _MONTH_NAMES for number, name in enumerate(line.split(), 1)}
_STRETCHES = {
    word: stretch for stretch, words in _NAMED.items() for word in "|".join(words).split("|")
}
OTHER_DAYS = frozenset(
    [
        *" ".join(_DAY_NAMES[1:]).split(),
        *"|".join(other for (_, n), (_, other) in _NAMED.items() if n >= 0).split("|"),
    ]
)
"""The words for a day in other languages than English, where a promise has no form of its own."""
DAY_WORDS = frozenset((*WEEKDAYS, *MONTHS, *_STRETCHES))
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
    "eighteenth", "nineteenth", "twentieth", "twenty-first", "twenty-second", "twenty-third",
    "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh", "twenty-eighth",
    "twenty-ninth", "thirtieth", "thirty-first",
)  # fmt: skip
_NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_MAX_DAYS_TO_A_NUMBER = 62
"""A 31st comes at least every second month."""


def _join(words: Iterable[str]) -> str:
    """Return alternatives, the longest first; Japanese has no ends of words."""
    ordered = sorted(words, key=len, reverse=True)
    spaced, unspaced = ([w for w in ordered if (w[0] >= "一") is kind] for kind in (False, True))
    return "|".join([rf"(?<![^\W_])(?:{'|'.join(spaced)})(?![^\W_])", *unspaced])


_DAY, _MONTH = (names[0].replace(" ", "|") for names in (_DAY_NAMES, _MONTH_NAMES))
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
    rf"|(?P<ordinal>{'|'.join(_ORDINALS[::-1])}) of (?P<ordinal_month>{_MONTH}))\b(?:,? (?P<year>\d{{4}})\b)?"
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
_HOURS = (
    r"\bat (?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?(?: o'clock)?(?:\s*(?P<half>[ap]\.?m)\b| (?:in the|at) (?P<part>\w+))?",
    r"\bum (?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?(?: uhr)?(?: (?P<part>\w+s|früh)\b)?",
    r"\ba las? (?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?(?: de la (?P<part>\w+))?",
    r"\bà (?P<hour>\d{1,2}) ?h(?:eures?)?(?: ?(?P<minute>\d{2})\b)?(?: (?:du |de l['’])(?P<part>[\w-]+))?",
    r"\balle (?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?(?: (?:di|del) (?P<part>\w+))?",
    r"の?(?P<part>午前|午後|朝|夕方|夜)?(?P<hour>\d{1,2})時(?:(?P<minute>\d{1,2})分|(?P<half_past>半))?に?",
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
        days = today - timedelta(int(match["days"]) - 1), today
    elif match["weekday"]:
        back = (today.weekday() - WEEKDAYS[match["weekday"].lower()] - 1) % 7 + 1
        days = _find_stretch("day", -back, today)
    elif match["month"]:
        back = (today.month - MONTHS[match["month"].lower()]) % 12
        days = _find_stretch("month", -back, today)
    else:
        days = _find_stretch(*_STRETCHES[match[0].lower()], today)
    return _build_span(match[0], *days, now)


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
    if lower.isdecimal():
        return int(lower)
    return _NUMBERS.index(lower) if lower in _NUMBERS else 0


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


def _read_relative_day(match: Match, today: date) -> date:
    unit, offset = _STRETCHES[match[0]]
    return today + timedelta((7 if unit == "week" else 1) * offset)


def _read_in_days(match: Match, today: date) -> date:
    count = 1 if match[1] in ("a", "an") else parse_number(match[1])
    return today + timedelta(count * (7 if match[2] == "week" else 1))


def _read_day_of_next_week(match: Match, today: date) -> date:
    return today + timedelta(7 - today.weekday() + WEEKDAYS[match[1] or match[2]])


def _read_weekday(match: Match, today: date) -> date:
    """Read a weekday as the next one to come, with or without "next"."""
    return today + timedelta((WEEKDAYS[match[0]] - today.weekday() - 1) % 7 + 1)


def drop_hours(text: str) -> str:
    """Return a text without the times of day that it names."""
    for pattern in _HOUR:
        text = pattern.sub("" if "時" in pattern.pattern else " ", text)  # no blank is Japanese
    return " ".join(text.split())


def _read_numbered_day(match: Match, today: date) -> date | None:
    """Read the number of a day as the next day with it."""
    number = int(match[1] or match[2])
    days = (today + timedelta(n) for n in range(_MAX_DAYS_TO_A_NUMBER))
    return next((day for day in days if day.day == number), None)


def _read_date(match: Match, today: date, *, is_past: bool = False) -> date | None:
    """Read a date; without a year, as the next such day, or as the last that has begun."""
    try:
        year, month, day = _split_date(match.groupdict())
        named = date(year or today.year, month, day)
        fits = named <= today if is_past else named >= today
        if fits or year:
            return named if fits else None
        if is_past:  # the year before has no 29 February
            return (named + timedelta(1)).replace(year=named.year - 1) - timedelta(1)
        return named.replace(year=named.year + 1)
    except ValueError:
        return None


def _split_date(groups: Mapping[str, str | None]) -> tuple[int, int, int]:
    """Return year, month and day; the year is 0 without one."""
    if iso := groups.get("iso"):
        return int(iso[:4]), int(iso[5:7]), int(iso[8:])
    year = int(groups["year"] or 0)
    if numbers := groups.get("dotted") or groups["japanese"]:
        first, second = (int(n) for n in re.findall(r"\d+", numbers))
        return (year, second, first) if "." in numbers else (year, first, second)
    if groups["ordinal"]:
        return year, MONTHS[groups["ordinal_month"] or ""], _ORDINALS.index(groups["ordinal"]) + 1
    month = groups["month"] or groups["month_before"] or ""
    return year, MONTHS[month], int(groups["day"] or groups["day_after"] or 0)


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
    hour, minute = int(found["hour"]), 30 if found.get("half_past") else int(found["minute"] or 0)
    part = (found.get("half") or "").replace(".", "") or found["part"]
    is_told = part in _AFTERNOONS or part in _MORNINGS or part in _NIGHTS
    is_late = part in _AFTERNOONS or (part in _NIGHTS and hour >= _FIRST_NIGHT_HOUR)
    if hour < 12 and (is_late or (not is_told and not found["minute"] and hour < 8)):
        hour += 12
    elif hour == 12 and is_told and part not in _AFTERNOONS:
        hour = 0
    return time(hour, minute) if hour < 24 and minute < 60 else None


_RULES: tuple[tuple[re.Pattern[str], Callable[[Match, date], date | None]], ...] = (
    (_DATE, _read_date),
    (_NUMBERED_DAY, _read_numbered_day),
    (_DAY_OF_NEXT_WEEK, _read_day_of_next_week),
    (_RELATIVE, _read_relative_day),
    (_IN, _read_in_days),
    (_WEEKDAY, _read_weekday),
)
