"""Time code: the bits of a day or a minute within five years, as ISO 8601 writes it.

A time costs 12 bits for its day and 10 for its minute, or less when it is a round distance from the
last time of the same call, as the end of a span is. The first one is measured from today's midnight. A
time that is written in another way is a text like any other, because nothing is rewritten.
"""

import re
from datetime import datetime, timedelta
from math import inf, log2
from typing import Final

from functions.chat.consent.literal_code import measure_length
from shared.domain.value import positional_value

_TIME: Final = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(?:(?P<separator>[T ])(?P<minute>\d\d:\d\d)"
    r"(?P<seconds>|:00|:59|:00\.000|:59\.999)(?P<zone>|Z|[+-]\d\d:\d\d))?",
    re.ASCII,
)
_DAY: Final = "day"
_DAYS: Final = 1_826
"""Five years before and after today."""
_DAY_BITS: Final = log2(2 * _DAYS + 1)
_MINUTE_BITS: Final = log2(24 * 60)

_DAY_FORM, _MINUTE_FORM, _CLOCK_FORM = -log2(0.5), -log2(0.4), -log2(0.1)
_SEPARATOR_BITS: Final = {"T": -log2(0.9), " ": -log2(0.1)}
_SECONDS_BITS: Final = {
    "": -log2(0.2),
    ":00": -log2(0.5),
    ":59": -log2(0.15),
    ":00.000": -log2(0.1),
    ":59.999": -log2(0.05),
}
_ZONE_BITS: Final = {
    "none": -log2(0.4),
    "UTC": -log2(0.25),
    "local": -log2(0.25),
    "zero": -log2(0.1),
}
"""Nothing, Z, the offset of the user's zone, and +00:00 where that is not the user's."""
_FIRST_SECOND, _LAST_SECOND = -log2(0.75), -log2(0.25)
_CLOCK: Final = re.compile(r"([01]\d|2[0-3]):(?P<minute>[0-5]\d)(:00)?", re.ASCII)
_ON_THE_QUARTER, _OFF_THE_QUARTER = -log2(0.7), -log2(0.3)
_CLOCK_SECOND: Final = 1.0
"""With seconds, which are zero, or without."""
_QUARTERS: Final = frozenset({"00", "15", "30", "45"})

_SAME_FORM, _OTHER_FORM = -log2(0.85), -log2(0.15)
_FROM_TODAY, _FROM_LAST_TIME = -log2(0.3), -log2(0.7)
_LATER, _EARLIER = -log2(0.75), -log2(0.25)
_MINUTE = timedelta(minutes=1)
_STEPS: Final = (
    # step, what is left behind whole steps, cost of choosing this row
    (timedelta(days=1), timedelta(0), -log2(0.25)),
    (timedelta(days=1), -_MINUTE, -log2(0.15)),  # 00:00 to 23:59
    (timedelta(hours=1), timedelta(0), -log2(0.25)),
    (timedelta(minutes=15), timedelta(0), -log2(0.2)),
    (_MINUTE, timedelta(0), -log2(0.15)),
)


@positional_value
class WrittenTime:
    """A time without its zone, and how it is written.

    `form_bits` is the cost of the form among all forms, and `second_bits` what is left of it where the
    form is known.
    """

    moment: datetime
    form: str
    form_bits: float
    second_bits: float

    @property
    def is_day(self) -> bool:
        return self.form == _DAY


def begin_day(now: datetime) -> WrittenTime:
    """Return midnight of the day: what the first time of a call is measured from."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    return WrittenTime(midnight, form="", form_bits=0.0, second_bits=0.0)


def parse_time(text: str, now: datetime) -> WrittenTime | None:
    """Parse a time in one of the forms that the code has; None for any other text.

    `now` is the user's local time: an offset must be the one that their zone has then.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    try:
        moment = datetime.fromisoformat(f"{match['day']}T{match['minute'] or '00:00'}")
    except ValueError:
        return None
    if abs((moment.date() - now.date()).days) > _DAYS:
        return None
    if match["minute"] is None:
        return WrittenTime(moment, form=_DAY, form_bits=_DAY_FORM, second_bits=0.0)
    zone = _name_zone(match["zone"], moment, now)
    return None if zone is None else _describe_minute(moment, match, zone)


def _describe_minute(moment: datetime, match: re.Match[str], zone: str) -> WrittenTime:
    separator, seconds = match["separator"], match["seconds"]
    form_bits = _SEPARATOR_BITS[separator] + _SECONDS_BITS[seconds] + _ZONE_BITS[zone]
    second_bits = _LAST_SECOND if "59" in seconds else _FIRST_SECOND if seconds else 0.0
    form = f"{separator}{len(seconds)}{zone}"
    return WrittenTime(
        moment, form=form, form_bits=_MINUTE_FORM + form_bits, second_bits=second_bits
    )


def _name_zone(zone: str, moment: datetime, now: datetime) -> str | None:
    if zone in ("", "Z"):
        return "UTC" if zone else "none"
    local = moment.replace(tzinfo=now.tzinfo).isoformat()[-6:]
    if zone == local:
        return "local"
    return "zero" if zone == "+00:00" else None


def measure_time(time: WrittenTime, last_time: WrittenTime) -> float:
    """Return the cost of a time behind the last one of the same call, or today's midnight."""
    from_today = _FROM_TODAY + _DAY_BITS + (0.0 if time.is_day else _MINUTE_BITS)
    distance = time.moment - last_time.moment
    if time.is_day:
        from_last = _measure_count(distance.days)
    else:
        from_last = min(_measure_steps(distance, *row) for row in _STEPS)
    return _measure_form(time, last_time) + min(from_today, _FROM_LAST_TIME + from_last)


def measure_clock(text: str) -> float:
    """Return the cost of a time of day, such as 19:30; inf for any other text."""
    match = _CLOCK.fullmatch(text)
    if match is None:
        return inf
    if match["minute"] in _QUARTERS:
        return _CLOCK_FORM + _CLOCK_SECOND + _ON_THE_QUARTER + log2(24 * 4)
    return _CLOCK_FORM + _CLOCK_SECOND + _OFF_THE_QUARTER + _MINUTE_BITS


def _measure_form(time: WrittenTime, last_time: WrittenTime) -> float:
    if not last_time.form:
        return time.form_bits
    is_same = time.form == last_time.form
    return _SAME_FORM + time.second_bits if is_same else _OTHER_FORM + time.form_bits


def _measure_steps(distance: timedelta, step: timedelta, rest: timedelta, bits: float) -> float:
    steps, remainder = divmod(distance - rest, step)
    return inf if remainder else bits + _measure_count(steps)


def _measure_count(steps: int) -> float:
    """Return the cost of a number of steps, more of it for those into the past."""
    return measure_length(abs(steps)) + (_EARLIER if steps < 0 else _LATER)
