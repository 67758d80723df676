"""Merging of repaired schemas: what holds together as one schema, and a union of objects as one object; pure."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from shared.models.schema_repair import NOTHING, Schema

_LOWER_BOUNDS = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems"})
_UPPER_BOUNDS = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems"})


def merge_all_of(schema: Schema) -> Schema:
    """Return a schema that says by itself what all its parts say."""
    merged = drop(schema, "allOf")
    for part in schema.get("allOf", ()):
        merged = intersect(merged, merge_all_of(part))
    return merged


def intersect(first: Schema, second: Schema) -> Schema:
    """Merge two schemas that hold together; where that cannot be said in one, the first counts."""
    merged = {**second, **first}
    for keyword in first.keys() & second.keys():
        merged[keyword] = _intersect_keyword(keyword, first[keyword], second[keyword])
    return merged


def _intersect_keyword(keyword: str, first: Any, second: Any) -> Any:
    match keyword:
        case "properties":
            both = {
                name: {"allOf": [first[name], second[name]]} for name in first if name in second
            }
            return {**first, **second, **both}
        case "items":
            return {"allOf": [first, second]}
        case "required":
            return [*dict.fromkeys((*first, *second))]
        case "type":
            return _intersect_types(_to_list(first), _to_list(second)) or first
        case "enum":
            return [choice for choice in first if choice in second] or first
    return _intersect_bounds(keyword, first, second)


def _intersect_bounds(keyword: str, first: Any, second: Any) -> Any:
    if keyword in _LOWER_BOUNDS:
        return max(first, second)
    return min(first, second) if keyword in _UPPER_BOUNDS else first


def _intersect_types(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Return the types in both; a whole number is a number."""
    common = [name for name in first if name in second]
    whole = ["integer"] if {"integer", "number"} <= {*first, *second} - {*common} else []
    return common + whole


def _to_list(declared: str | Sequence[str]) -> Sequence[str]:
    return [declared] if isinstance(declared, str) else declared


def unite_objects(schema: Schema) -> Schema:
    """Return an object with the properties of all its alternatives; required is what each requires."""
    united = merge_all_of(schema)
    own = united.get("properties", {})
    parts_by_name: dict[str, list[Schema]] = {}
    required = [*united.get("required", ())]
    for keyword in ("anyOf", "oneOf"):
        branches = [unite_objects(part) for part in united.get(keyword, ()) if _takes_objects(part)]
        for branch in branches:
            for name, part in branch["properties"].items():
                parts_by_name.setdefault(name, []).append(part)
        required += _list_common([branch.get("required", ()) for branch in branches])
    added = {
        name: parts[0] if len(parts) == 1 else {"anyOf": parts}
        for name, parts in parts_by_name.items()
    }
    return {
        **drop(united, "anyOf", "oneOf"),
        "type": "object",
        "properties": {**own, **drop(added, *own)},
        "required": [*dict.fromkeys(required)],
    }


def list_alternatives(schema: Schema) -> list[Schema]:
    """List what a value may be: schemas that are no unions, each with what holds for all."""
    merged = merge_all_of(schema)
    branches = [*merged.get("anyOf", ()), *merged.get("oneOf", ())]
    if not branches:
        return [merged]
    shared = drop(merged, "anyOf", "oneOf")
    nested = (list_alternatives(intersect(merge_all_of(branch), shared)) for branch in branches)
    return [*chain.from_iterable(nested)]


def _takes_objects(schema: Schema) -> bool:
    return schema != NOTHING and "object" in _to_list(schema.get("type", "object"))


def _list_common(lists: Sequence[Sequence[str]]) -> list[str]:
    return [name for name in lists[0] if all(name in names for names in lists)] if lists else []


def drop(schema: Schema, *keywords: str) -> Schema:
    """Return a schema, or its properties, without these."""
    return {keyword: part for keyword, part in schema.items() if keyword not in keywords}
