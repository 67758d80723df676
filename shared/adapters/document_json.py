"""JSON of document values: lists are tagged, so that times and bytes can stand beside them."""

import base64
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from pydantic_core import from_json, to_json

from shared.adapters.document_changes import project

_PLAIN_TYPES = frozenset({str, int, float, bool, type(None)})


def dumps(value: Any) -> str:
    return to_json(_to_tagged(value), inf_nan_mode="constants").decode()


def loads(text: str, field_paths: Sequence[str] | None = None) -> Any:
    """Decode a value; of a map only the fields at these dotted paths, where they exist."""
    value = from_json(text)
    return _from_tagged(value if field_paths is None else project(value, field_paths))


class LazyFields(Mapping[str, Any]):
    """A document's fields, read on first access: a cached version needs no reading."""

    def __init__(self, read: Callable[[], Mapping[str, Any]]) -> None:
        self._read = read

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def items(self) -> ItemsView[str, Any]:
        return self._fields.items()

    @cached_property
    def _fields(self) -> Mapping[str, Any]:
        return self._read()


def loads_later(text: str) -> LazyFields:
    """Return the fields that a text holds, decoded once somebody looks."""
    return LazyFields(lambda: loads(text))


def _to_tagged(value: Any) -> Any:
    if type(value) in _PLAIN_TYPES:  # as most are: the classes below are compared one by one
        return value
    match value:
        case datetime():
            return ["time", value.astimezone(UTC).isoformat()]
        case bytes():
            return ["bytes", base64.b64encode(value).decode()]
        case list() | tuple():
            return ["list", *map(_to_tagged, value)]
        case dict() | LazyFields():
            return {
                name: item if type(item) in _PLAIN_TYPES else _to_tagged(item)
                for name, item in value.items()
            }
        case _:
            return value


def _from_tagged(value: Any) -> Any:
    """Restore tagged values, in place in maps; plain ones, which most are, cost no call."""
    if type(value) is dict:
        for name, item in value.items():
            if type(item) is list or type(item) is dict:
                value[name] = _from_tagged(item)
        return value
    if type(value) is not list:
        return value
    tag, *items = value
    if tag == "time":
        return datetime.fromisoformat(items[0])
    if tag == "bytes":
        return base64.b64decode(items[0])
    return [
        _from_tagged(item) if type(item) is list or type(item) is dict else item for item in items
    ]
