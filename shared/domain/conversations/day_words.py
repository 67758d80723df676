"""Day words: days and hours as people say them, on the clock and in the language of whoever reads them.

Also called: date formatting.
"""

from datetime import datetime, tzinfo

from shared.languages import translate

DAY_AND_TIME = "{weekday} {day} {month} {year} at {time}"


def describe_time(time: datetime, zone: tzinfo | None, language: str | None = None) -> str:
    """Say a day with its hour: "Friday 6 March 2026 at 18:00"."""
    local = time.astimezone(zone)
    return translate(
        DAY_AND_TIME,
        language,
        weekday=translate(f"{local:%A}", language),
        day=local.day,
        month=translate(f"{local:%B}", language),
        year=local.year,
        time=f"{local:%H:%M}",
    )
