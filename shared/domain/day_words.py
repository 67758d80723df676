"""Day words: days and hours as people say them, on the clock of whoever reads them."""

from datetime import datetime, tzinfo


def describe_day(time: datetime, zone: tzinfo | None) -> str:
    """Say a day: "Friday 6 March 2026"."""
    local = time.astimezone(zone)
    return f"{local:%A} {local.day} {local:%B} {local.year}"


def describe_time(time: datetime, zone: tzinfo | None) -> str:
    """Say a day with its hour: "Friday 6 March 2026 at 18:00"."""
    return f"{describe_day(time, zone)} at {time.astimezone(zone):%H:%M}"
