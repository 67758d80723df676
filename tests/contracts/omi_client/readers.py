"""Readers: JSON as the released app reads it, in Dart, where a wrong type throws.

A reader takes a decoded value and returns what the app keeps of it, or raises UnreadableError.
Two things differ from most clients. An int is no double: where a double is read, `0` throws and `0.0`
does not. And one element that cannot be read loses the whole list.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

Reader: TypeAlias = Callable[[Any], Any]
T = TypeVar("T")


class UnreadableError(Exception):
    """The app throws here. The message names the field and the value."""


def text(value: Any) -> str:
    return _require(value, str)


def flag(value: Any) -> bool:
    return _require(value, bool)


def integer(value: Any) -> int:
    return _require(value, int)


def double(value: Any) -> float:
    """A double in Dart's sense: `1` is none."""
    return _require(value, float)


def number(value: Any) -> float:
    """An int or a double."""
    return float(integer(value)) if isinstance(value, int) else _require(value, float)


def time(value: Any) -> datetime:
    """A time. Without a zone the app would take it for the phone's local time, so it has one."""
    try:
        parsed = datetime.fromisoformat(text(value))
    except ValueError as error:
        raise UnreadableError(f"{value!r} is no time") from error
    if parsed.tzinfo is None:
        raise UnreadableError(f"{value!r} has no zone")
    return parsed


def anything(value: Any) -> Any:
    return value


def one_of(*values: str) -> Reader:
    """Read a String that must be one of these."""

    def read(value: Any) -> Any:
        if value not in values:
            raise UnreadableError(f"{value!r} is none of {values}")
        return value

    return read


def optional(reader: Reader, default: Any = None) -> Reader:
    """Read null and a missing field as `default`."""
    return lambda value: default if value is None else reader(value)


def each(reader: Reader) -> Reader:
    """Read a list that must be there."""

    def read(value: Any) -> list[Any]:
        items = _require(value, list)
        return [_read_at(f"[{at}]", reader, item) for at, item in enumerate(items)]

    return read


def some(reader: Reader) -> Reader:
    """Read a list; null and a missing one are empty."""
    return lambda value: [] if value is None else each(reader)(value)


def shape(**readers: Reader) -> Reader:
    """Read an object. Other fields are ignored; a missing one is read as null."""

    def read(value: Any) -> dict[str, Any]:
        fields: Mapping[str, Any] = _require(value, dict)
        return {
            name: _read_at(f".{name}", reader, fields.get(name)) for name, reader in readers.items()
        }

    return read


def _require(value: Any, kind: type[T]) -> T:
    is_bool = isinstance(value, bool)  # which Python takes for an int
    if not isinstance(value, kind) or is_bool is not (kind is bool):
        raise UnreadableError(f" is {value!r}, which is no {kind.__name__}")
    return value


def _read_at(place: str, reader: Reader, value: Any) -> Any:
    try:
        return reader(value)
    except UnreadableError as error:
        raise UnreadableError(f"{place}{error}") from error
