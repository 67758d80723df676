"""The days of a few holidays in a year: fixed ones, Easter's, and Thanksgiving's."""

from datetime import datetime, timedelta

from shared.retrieval.dates.spans import Span, midnight, period

HOLIDAYS = {
    "christmas eve": (12, 24, 1), "christmas day": (12, 25, 1), "boxing day": (12, 26, 1),
    "new year's eve": (12, 31, 1), "new year's day": (1, 1, 1), "new year's": (1, 1, 1),
    "valentine's day": (2, 14, 1), "st patrick's day": (3, 17, 1),
    "christmas": (12, 25, 2), "halloween": (10, 31, 1),
}  # fmt: skip
FEASTS = {"good friday": -2, "easter sunday": 0, "easter monday": 1, "easter": 0}  # days from it
AFTER_THANKSGIVING = {"thanksgiving": 0, "black friday": 1}
WORDS_ALONE = ("christmas", "easter", "thanksgiving", "halloween", "new year's")


def celebrated(name: str, now: datetime, year: int) -> Span:
    if name in HOLIDAYS:
        month, day, length = HOLIDAYS[name]
        start = midnight(now).replace(year=year, month=month, day=day)
        return Span(start, start + timedelta(days=length))
    if name in FEASTS:
        return period(_easter(now, year), "day", FEASTS[name])
    first = midnight(now).replace(year=year, month=11, day=1)
    thursday = (3 - first.weekday()) % 7 + 21
    return period(first, "day", thursday + AFTER_THANKSGIVING[name])


def _easter(now: datetime, year: int) -> datetime:
    """Return the Sunday after the first full moon of spring, by Gauss as Meeus wrote him."""
    century, rest = divmod(year, 100)
    shorter = (century - (century + 8) // 25 + 1) // 3
    moon = (19 * (year % 19) + century - century // 4 - shorter + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    late = (year % 19 + 11 * moon + 22 * weekday) // 451
    month, day = divmod(moon + weekday - 7 * late + 114, 31)
    return midnight(now).replace(year=year, month=month, day=day + 1)
