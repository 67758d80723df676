"""Stamps: dates and times of day in transcripts, their names and their first lines.

Also called: date parsing, timestamp parsing.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise, product

from shared.domain.value import value

_HALF = r"[AaPp]\.?\s?[Mm]\.?|上午|下午|午前|午後|오전|오후|[صم]"
_KNOWN_HALF = re.compile(_HALF)
_AFTERNOON = re.compile(r"[Pp]|下午|午後|오후|م")
_TIME = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?"
CLOCK = rf"(?:(?:{_HALF})\s?{_TIME}|{_TIME}(?:\s?(?:{_HALF})(?!\w))?)"
_BEHIND_FIRST, _BEHIND_SECOND = r"(?:[./-]|\s?[年년])\s?", r"(?:[./-]|\s?[月월])\s?"
DATE = rf"\d{{1,4}}{_BEHIND_FIRST}\d{{1,2}}{_BEHIND_SECOND}\d{{1,4}}(?:\.|\s?[日일])?"
WORD = r"[^\W\d_][^\s\d:,\[\]-]{0,15}"
"""What stands beside a time in some language: a half of the day, or `at`."""
CHAT_CLOCK = (
    rf"(?:(?:{_HALF}|{WORD})\s?)?\d{{1,2}}(?:[:.]|\s?h\s?)\d{{2}}(?:[:.]\d{{2}})?"
    rf"(?:\s?(?:(?:{_HALF})(?!\w)|{WORD}(?=\]|\s+-\s)))?"
)
_CLOCK_PARTS = re.compile(
    r"(?P<before>\D*?)\s?(\d{1,2})(?P<colon>[:.]|\s?h\s?)(\d{2})(?:(?P=colon)(\d{2}))?"
    r"(?:[.,](\d{1,3}))?\s?(?P<after>\D*)"
)
_DATE_PARTS = re.compile(rf"(\d{{1,4}}){_BEHIND_FIRST}(\d{{1,2}}){_BEHIND_SECOND}(\d{{1,4}})")
_DAY_WORD = re.compile(r"[^\W\d_]+")
_NAMED_DATE = re.compile(
    r"(?<![0-9])(?P<y>(?:19|20)\d\d)(?P<sep>[-_./]?)(?P<m>\d\d)(?P=sep)(?P<d>\d\d)"
    r"(?:[ _T-]+(?:at[ _])?(?P<h>\d\d)[:.h_-]?(?P<min>\d\d))?(?![0-9]{3})"
)
_AMERICAN = re.compile(r"\d{1,2}/\d{1,2}/\d{2,4} .*\d\s?[AP]M")
_GMT_DATE = re.compile(r"GMT(\d{8})-(\d{6})")

FIRST_THAI_YEAR = 2500
THAI_YEARS = 543
"""Thailand counts years from 543 BC."""
MAX_OTHER_HALVES = 4
DAYS_OF_A_WEEK = 7
_BASES = (datetime(2026, 11, 2), datetime(2026, 11, 11))  # noqa: DTZ001 - a Monday and a Wednesday

Parts = tuple[int, int, int]
_ORDERS: Sequence[Callable[[int, int, int], Parts]] = (
    lambda d, m, y: (y, m, d),
    lambda m, d, y: (y, m, d),
    lambda y, m, d: (y, m, d),
)


@value
class ClockParts:
    """The numbers of a time as a file writes them, and the word beside it."""

    first: str
    second: str
    third: str
    fraction: str
    half: str


@value
class Stamp:
    """A day, perhaps behind the word for its weekday, and a time of day as a file writes them."""

    date: str
    clock: str


def parse_clock(clock: str) -> float:
    """Return the seconds of an offset, `1:02` are 62, or of a time of day with AM or PM."""
    parts = _parse_parts(clock)
    if parts.half or parts.third:
        whole = _to_time_of_day(parts, {parts.half: _is_afternoon(parts.half)}).total_seconds()
    else:
        whole = int(parts.first) * 60 + int(parts.second)
    fraction = parts.fraction
    return whole + (float(f"0.{int(fraction):0{len(fraction)}}") if fraction else 0.0)


def _parse_parts(clock: str) -> ClockParts:
    match = _CLOCK_PARTS.fullmatch(clock)
    if match is None:
        raise ValueError(f"{clock!r} is no time")
    before, first, _, second, third, fraction, after = match.groups()
    return ClockParts(
        first=first,
        second=second,
        third=third or "",
        fraction=fraction or "",
        half=(before or after).strip(),
    )


def _is_afternoon(half: str) -> bool:
    return bool(_AFTERNOON.match(half))


def _to_time_of_day(parts: ClockParts, afternoons: Mapping[str, bool]) -> timedelta:
    """Read a time of day: `10:04` are hours and minutes here."""
    hours = int(parts.first)
    if parts.half and parts.half in afternoons:
        hours = hours % 12 + 12 * afternoons[parts.half]
    return timedelta(hours=hours, minutes=int(parts.second), seconds=int(parts.third or 0))


def parse_stamps(stamps: Sequence[Stamp]) -> list[datetime]:
    """Return the times of all stamps of a file, without zone; together they tell day and month.

    An order of the parts holds for the whole file, and so does what the words beside its times mean:
    it gives real days, on the weekdays that stand beside them, and time goes forward, by as little as possible.
    Raises ValueError where none does.
    """
    clocks = [_parse_parts(stamp.clock) for stamp in stamps]
    days = [_parse_date_parts(stamp.date) for stamp in stamps]
    readings = [
        times
        for afternoons in _list_afternoons(clocks)
        for times_of_day in [[_to_time_of_day(clock, afternoons) for clock in clocks]]
        for order in _order(stamps)
        if (times := _read(days, times_of_day, order))
    ]
    if not readings:
        raise ValueError("no order of day, month and year fits all dates")
    weekdays = _read_weekdays(stamps) if len(readings) > 1 else {}

    def rate(times: Sequence[datetime]) -> tuple[int, int, timedelta]:
        wrong = sum(times[at].weekday() != weekday for at, weekday in weekdays.items())
        return wrong, _count_steps_back(times), times[-1] - times[0]

    return min(readings, key=rate)


def _read_weekdays(stamps: Sequence[Stamp]) -> dict[int, int]:
    """Return the weekday of each stamp that tells one, by its position; Monday is 0."""
    words = [_DAY_WORD.match(stamp.date) for stamp in stamps]
    distinct = {match[0] for match in words if match}
    if len(distinct) > DAYS_OF_A_WEEK:
        return {}
    known = {word: _read_weekday(word) for word in distinct}
    found = {at: known[match[0]] for at, match in enumerate(words) if match}
    return {at: weekday for at, weekday in found.items() if weekday is not None}


def _read_weekday(word: str) -> int | None:
    """Read the name of a weekday in some language: it names the same one, whatever day today is."""
    import dateparser  # loads many languages, and most files need none

    named = {
        at.weekday() if (at := dateparser.parse(word, settings=settings)) else None
        for settings in ({"RELATIVE_BASE": base, "PARSERS": ["absolute-time"]} for base in _BASES)
    }
    return named.pop() if len(named) == 1 else None


def _list_afternoons(clocks: Iterable[ClockParts]) -> list[dict[str, bool]]:
    """List what the words beside times may mean: whether each is the afternoon, or says nothing.

    Two words that nobody here knows are halves of the day, if no hour contradicts that.
    """
    hours: dict[str, list[int]] = {}
    for parts in clocks:
        if parts.half:
            hours.setdefault(parts.half, []).append(int(parts.first))
    known = {half: _is_afternoon(half) for half in hours if _KNOWN_HALF.fullmatch(half)}
    others = [half for half in hours if half not in known]
    are_halves = all(1 <= hour <= 12 for half in others for hour in hours[half])
    if not are_halves or len(hours) < 2 or len(others) > MAX_OTHER_HALVES:
        return [known]
    meanings = product((False, True), repeat=len(others))
    return [{**known, **dict(zip(others, meaning, strict=True))} for meaning in meanings]


def _order(stamps: Sequence[Stamp]) -> list[Callable[[int, int, int], Parts]]:
    """List the orders, the likeliest first: with AM and PM the month leads."""
    day_first, month_first, year_first = _ORDERS
    is_american = any(_AMERICAN.fullmatch(f"{stamp.date} {stamp.clock}") for stamp in stamps)
    likely = [month_first, day_first] if is_american else [day_first, month_first]
    return [*likely, year_first]


def _read(
    parts: Iterable[Parts],
    clocks: Iterable[timedelta],
    order: Callable[[int, int, int], Parts],
) -> list[datetime] | None:
    try:
        return [
            datetime(*_widen_year(*order(*part))) + clock  # noqa: DTZ001 - a file has local times
            for part, clock in zip(parts, clocks, strict=True)
        ]
    except (ValueError, OverflowError):
        return None


def _widen_year(year: int, month: int, day: int) -> Parts:
    if 100 <= year < 1900:
        raise ValueError("no year of a recording")
    if year >= FIRST_THAI_YEAR:
        return year - THAI_YEARS, month, day
    return (2000 + year if year < 100 else year), month, day


def _count_steps_back(times: Sequence[datetime]) -> int:
    return sum(after < before - timedelta(hours=1) for before, after in pairwise(times))


def _parse_date_parts(date: str) -> Parts:
    match = _DATE_PARTS.search(date)
    if match is None:
        raise ValueError(f"{date!r} is no date")
    first, second, third = match.groups()
    return int(first), int(second), int(third)


def find_date(text: str) -> datetime | None:
    """Find a date, perhaps with a time, that begins with its year, as file names have it."""
    if gmt := _GMT_DATE.search(text):
        with suppress(ValueError):
            parse = partial(datetime.strptime, "".join(gmt.groups()), "%Y%m%d%H%M%S")
            return parse().replace(tzinfo=UTC)
    for match in _NAMED_DATE.finditer(text):
        numbers = [int(match[name] or 0) for name in ("y", "m", "d", "h", "min")]
        try:
            return datetime(*numbers)  # type: ignore[arg-type]  # noqa: DTZ001 - a local time
        except ValueError:
            continue
    return None


def cut_at_date(text: str) -> str:
    """Return what stands before the first date; the whole where there is none."""
    match = _GMT_DATE.search(text) or _NAMED_DATE.search(text)
    return text[: match.start()] if match and match.start() else text
