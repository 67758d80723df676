"""Fields of JSON objects: texts, numbers and times under any of several names."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from functions.imports.formats.stamps import parse_clock

Fields = Mapping[str, Any]

MOMENTS_FROM = 1e8
"""A number of seconds since 1970 is larger, one from the beginning smaller."""
MILLISECONDS_FROM = 1e11
"""A number of seconds since 1970 is smaller, one of milliseconds larger."""


def list_objects(items: Any) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def find_text(item: Fields, names: Sequence[str]) -> str | None:
    return next((item[name] for name in names if isinstance(item.get(name), str)), None)


def find_number(item: Fields, names: Sequence[str]) -> float | None:
    for name in names:
        found = item.get(name)
        if isinstance(found, int | float) and not isinstance(found, bool):
            return float(found)
        if isinstance(found, str) and (number := _parse_number(found)) is not None:
            return number
    return None


def _parse_number(text: str) -> float | None:
    """Read a number, an offset such as `1:02`, or a moment as seconds since 1970."""
    with suppress(ValueError):
        return float(text)
    with suppress(ValueError):
        return parse_clock(text)
    at = _parse_time(text)
    return at.timestamp() if at else None


def find_time(item: Fields, names: Sequence[str]) -> datetime | None:
    return next(filter(None, (_parse_time(item.get(name)) for name in names)), None)


def _parse_time(found: Any) -> datetime | None:
    """Read ISO 8601, or seconds or milliseconds since 1970 where the number is large enough."""
    try:
        if isinstance(found, str) and not found.isdecimal():
            return datetime.fromisoformat(found)
        if isinstance(found, str | int | float) and not isinstance(found, bool):
            number = float(found)
            seconds = number / 1000 if number > MILLISECONDS_FROM else number
            return datetime.fromtimestamp(seconds, UTC) if seconds > MOMENTS_FROM else None
    except (ValueError, OverflowError, OSError):
        return None
    return None
