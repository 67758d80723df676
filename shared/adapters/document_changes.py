"""What an update makes of a document's fields; pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from shared.adapters.sqlite_keys import sort_key
from shared.domain.documents import ArrayUnion, Fields, Increment, Remove

INT64 = 2**63


def changed(fields: Fields, changes: Fields) -> dict[str, Any]:
    """Return `fields` with `changes` at their dotted paths; maps on the way are made."""
    result = dict(fields)
    for dotted, change in changes.items():
        result = _put(result, dotted.split("."), change)
    return result


def project(fields: Fields, wanted: Sequence[str]) -> dict[str, Any]:
    """Return only the wanted dotted paths, where there is something."""
    result: dict[str, Any] = {}
    for dotted in wanted:
        names = dotted.split(".")
        if (found := _find(fields, names)) is not _NOTHING:
            result = _put(result, names, found)
    return result


_NOTHING = object()


def _find(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        if not isinstance(value, Mapping) or name not in value:
            return _NOTHING
        value = value[name]
    return value


def _put(fields: Mapping[str, Any], names: Sequence[str], change: Any) -> dict[str, Any]:
    name, *below = names
    old = fields.get(name)
    if not below:
        return (
            _without(fields, name)
            if isinstance(change, Remove)
            else {**fields, name: _new(old, change)}
        )
    if not isinstance(old, Mapping):
        if isinstance(change, Remove):
            return dict(fields)
        old = {}
    return {**fields, name: _put(old, below, change)}


def _without(fields: Fields, name: str) -> dict[str, Any]:
    return {other: value for other, value in fields.items() if other != name}


def _new(old: Any, change: Any) -> Any:
    match change:
        case Increment(by=by):
            return _sum(old, by)
        case ArrayUnion(values=values):
            return _union(old if isinstance(old, list) else [], values)
        case _:
            return change


def _sum(old: Any, by: int) -> int | float:
    if isinstance(old, bool) or not isinstance(old, int | float):
        return by
    total = old + by
    return max(-INT64, min(INT64 - 1, total)) if isinstance(total, int) else total


def _union(old: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Append what is not there; True is not 1 here, as everywhere in the store."""
    items = {sort_key(item): item for item in old}
    return [*old, *{sort_key(v): v for v in values if sort_key(v) not in items}.values()]
