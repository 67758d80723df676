"""Stamps: dates and times of day in transcripts, their names and their first lines."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise

from shared.domain.value import value

_HALF = r"[AaPp]\.?\s?[Mm]\.?|上午|下午|午前|午後|오전|오후|[صم]"
_AFTERNOON = re.compile(r"[Pp]|下午|午後|오후|م")
_TIME = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?"
CLOCK = rf"(?:(?:{_HALF})\s?{_TIME}|{_TIME}(?:\s?(?:{_HALF})(?!\w))?)"
DATE = r"\d{1,4}[./-]\s?\d{1,2}[./-]\s?\d{1,4}\.?"
_CLOCK_PARTS = re.compile(
    rf"(?P<before>{_HALF})?\s?(\d{{1,2}}):(\d{{2}})(?::(\d{{2}}))?(?:[.,](\d{{1,3}}))?\s?(?P<after>{_HALF})?"
)
_DATE_PARTS = re.compile(r"(\d{1,4})[./-]\s?(\d{1,2})[./-]\s?(\d{1,4})")
_NAMED_DATE = re.compile(
    r"(?<![0-9])(?P<y>(?:19|20)\d\d)(?P<sep>[-_./]?)(?P<m>\d\d)(?P=sep)(?P<d>\d\d)"
    r"(?:[ _T-]+(?P<h>\d\d)[:.h_-]?(?P<min>\d\d))?(?![0-9]{3})"
)
_AMERICAN = re.compile(r"\d{1,2}/\d{1,2}/\d{2,4} .*\d\s?[AP]M")
_GMT_DATE = re.compile(r"GMT(\d{8})-(\d{6})")

Parts = tuple[int, int, int]
_ORDERS: Sequence[Callable[[int, int, int], Parts]] = (
    lambda d, m, y: (y, m, d),
    lambda m, d, y: (y, m, d),
    lambda y, m, d: (y, m, d),
)


@value
class Stamp:
    """A day and a time of day as a file writes them."""

    date: str
    clock: str


def parse_clock(clock: str) -> float:
    """Return the seconds of an offset, `1:02` are 62, or of a time of day with AM or PM."""
    first, second, third, fraction, half = _parse_parts(clock)
    if half or third is not None:
        whole = _to_hour(first, half) * 3600 + int(second) * 60 + int(third or 0)
    else:
        whole = int(first) * 60 + int(second)
    return whole + (float(f"0.{int(fraction):0{len(fraction)}}") if fraction else 0.0)


def _parse_parts(clock: str) -> tuple[str, str, str | None, str | None, str]:
    match = _CLOCK_PARTS.fullmatch(clock)
    if match is None:
        raise ValueError(f"{clock!r} is no time")
    before, first, second, third, fraction, after = match.groups()
    return first, second, third, fraction, before or after or ""


def _to_hour(hours: str, half: str) -> int:
    if not half:
        return int(hours)
    return int(hours) % 12 + (12 if _AFTERNOON.match(half) else 0)


def parse_stamps(stamps: Sequence[Stamp]) -> list[datetime]:
    """Return the times of all stamps of a file, without zone; together they tell day and month.

    An order of the parts holds for the whole file: it gives real days, and time goes forward, by as
    little as possible.
    Raises ValueError where none does.
    """
    clocks = [_parse_time_of_day(stamp.clock) for stamp in stamps]
    parts = [_parse_date_parts(stamp.date) for stamp in stamps]
    readings = [times for order in _order(stamps) if (times := _read(parts, clocks, order))]
    if not readings:
        raise ValueError("no order of day, month and year fits all dates")
    return min(readings, key=lambda times: (_count_steps_back(times), times[-1] - times[0]))


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
    return (2000 + year if year < 100 else year), month, day


def _count_steps_back(times: Sequence[datetime]) -> int:
    return sum(after < before - timedelta(hours=1) for before, after in pairwise(times))


def _parse_date_parts(date: str) -> Parts:
    match = _DATE_PARTS.match(date)
    if match is None:
        raise ValueError(f"{date!r} is no date")
    first, second, third = match.groups()
    return int(first), int(second), int(third)


def _parse_time_of_day(clock: str) -> timedelta:
    """Read a time of day: `10:04` are hours and minutes here."""
    hours, minutes, seconds, _, half = _parse_parts(clock)
    return timedelta(hours=_to_hour(hours, half), minutes=int(minutes), seconds=int(seconds or 0))


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
