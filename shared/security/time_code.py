"""Time code: the bits of a day or a minute within five years, as ISO 8601 writes it.

A time costs 12 bits for its day and 10 for its minute, or less when it is a round distance from the
last time of the same call, as the end of a span is. The first one is measured from today's midnight. A
time that is written in another way is a text like any other, because nothing is rewritten.
"""

import re
from datetime import datetime, timedelta
from math import inf, log2
from typing import Final

from shared.domain.value import positional_value
from shared.security.literal_code import measure_length

_TIME: Final = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(?:(?P<separator>[T ])(?P<minute>\d\d:\d\d)"
    r"(?P<seconds>|:00|:59|:00\.000|:59\.999)(?P<zone>|Z|[+-]\d\d:\d\d))?",
    re.ASCII,
)
_DAYS: Final = 1_826
"""Five years before and after today."""
_DAY_BITS: Final = log2(2 * _DAYS + 1)
_MINUTE_BITS: Final = log2(24 * 60)

_DAY_FORM, _MINUTE_FORM = -log2(0.55), -log2(0.45)
_SEPARATOR_BITS: Final = {"T": -log2(0.9), " ": -log2(0.1)}
_SECONDS_BITS: Final = {
    "": -log2(0.2),
    ":00": -log2(0.5),
    ":59": -log2(0.15),
    ":00.000": -log2(0.1),
    ":59.999": -log2(0.05),
}
_NO_ZONE, _UTC, _LOCAL_ZONE = -log2(0.4), -log2(0.3), -log2(0.3)

_FROM_TODAY, _FROM_LAST_TIME, _SIGN = -log2(0.4), -log2(0.6), 1.0
_MINUTE = timedelta(minutes=1)
_STEPS: Final = (
    # step, what is left behind whole steps, cost of choosing this row
    (timedelta(days=1), timedelta(0), -log2(0.3)),
    (timedelta(days=1), -_MINUTE, -log2(0.2)),  # 00:00 to 23:59
    (timedelta(hours=1), timedelta(0), -log2(0.3)),
    (_MINUTE, timedelta(0), -log2(0.2)),
)


@positional_value
class WrittenTime:
    """A time without its zone, and the cost of writing it in this form and not in another."""

    moment: datetime
    is_day: bool
    form_bits: float


def begin_day(now: datetime) -> datetime:
    """Return midnight of the day, without a zone."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)


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
        return WrittenTime(moment, is_day=True, form_bits=_DAY_FORM)
    zone_bits = _measure_zone(match["zone"], moment, now)
    form_bits = _SEPARATOR_BITS[match["separator"]] + _SECONDS_BITS[match["seconds"]] + zone_bits
    return WrittenTime(moment, is_day=False, form_bits=_MINUTE_FORM + form_bits)


def measure_time(time: WrittenTime, last_time: datetime) -> float:
    """Return the cost of a time behind `last_time` in the same call, or today's midnight."""
    from_today = _FROM_TODAY + _DAY_BITS + (0.0 if time.is_day else _MINUTE_BITS)
    distance = time.moment - last_time
    if time.is_day:
        from_last = _SIGN + measure_length(abs(distance.days))
    else:
        from_last = min(_measure_steps(distance, *row) for row in _STEPS)
    return time.form_bits + min(from_today, _FROM_LAST_TIME + from_last)


def _measure_steps(distance: timedelta, step: timedelta, rest: timedelta, bits: float) -> float:
    steps, remainder = divmod(distance - rest, step)
    return inf if remainder else bits + _SIGN + measure_length(abs(steps))


def _measure_zone(zone: str, moment: datetime, now: datetime) -> float:
    if zone in ("", "Z"):
        return _UTC if zone else _NO_ZONE
    local = moment.replace(tzinfo=now.tzinfo).isoformat()[-6:]
    return _LOCAL_ZONE if zone == local else inf
