"""Document changes: the fields of a document after an update; pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from shared.adapters.embedded.sqlite_keys import build_sort_key
from shared.domain.store.documents import ArrayUnion, Fields, Increment, Remove

INT64_LIMIT = 2**63


def apply_changes(fields: Fields, changes: Fields) -> dict[str, Any]:
    """Return `fields` with `changes` at their dotted paths; missing maps are created."""
    result = dict(fields)
    for dotted, change in changes.items():
        result = _put(result, dotted.split("."), change)
    return result


def project(fields: Fields, dotted_paths: Sequence[str]) -> dict[str, Any]:
    """Return only the fields at these dotted paths, where they exist."""
    result = {name: fields[name] for name in dotted_paths if name in fields and "." not in name}
    for names in [dotted.split(".") for dotted in dotted_paths if "." in dotted]:
        if (field_value := _find(fields, names)) is not _MISSING:
            result = _put(result, names, field_value)
    return result


_MISSING = object()


def _find(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        if not isinstance(value, Mapping) or name not in value:
            return _MISSING
        value = value[name]
    return value


def _put(fields: Mapping[str, Any], names: Sequence[str], change: Any) -> dict[str, Any]:
    name, *remaining = names
    old = fields.get(name)
    if not remaining:
        return (
            _drop_field(fields, name)
            if isinstance(change, Remove)
            else {**fields, name: _apply_change(old, change)}
        )
    if not isinstance(old, Mapping):
        if isinstance(change, Remove):
            return dict(fields)
        old = {}
    return {**fields, name: _put(old, remaining, change)}


def _drop_field(fields: Fields, name: str) -> dict[str, Any]:
    return {other: value for other, value in fields.items() if other != name}


def _apply_change(old: Any, change: Any) -> Any:
    match change:
        case Increment(by=by):
            return _increment(old, by)
        case ArrayUnion(values=values):
            return _append_missing(old if isinstance(old, list) else [], values)
        case _:
            return change


def _increment(old: Any, by: int) -> int | float:
    if isinstance(old, bool) or not isinstance(old, int | float):
        return by
    total = old + by
    return max(-INT64_LIMIT, min(INT64_LIMIT - 1, total)) if isinstance(total, int) else total


def _append_missing(old: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Append missing values; True and 1 differ, as everywhere in the store."""
    items = {build_sort_key(item): item for item in old}
    return [
        *old,
        *{build_sort_key(v): v for v in values if build_sort_key(v) not in items}.values(),
    ]
