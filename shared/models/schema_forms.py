"""Forms of a schema that servers take: one keyword for one meaning, and nothing that they refuse; pure.

It reads repaired schemas (`schema_repair.py`). What a form cannot say is left out, so it takes every value that
the schema takes; but what is optional is left out instead of being null.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from shared.domain.value import value
from shared.models.schema_merging import drop, intersect, merge_all_of, unite_objects
from shared.models.schema_repair import NOTHING, Schema, fits, get_type, is_scalar, list_unique

MAX_DESCRIPTION_CHARS: Final = 1_000
"""OpenAI takes 1,024 (https://platform.openai.com/docs/api-reference/chat, 2025-11)."""
_MAX_PARTS: Final = 5_000
"""Parts of one schema that are read, where alternatives share them."""
_MAX_SENT_PARTS: Final = 1_000
"""Parts and choices of one schema, as in strict schemas of OpenAI
(https://platform.openai.com/docs/guides/structured-outputs#supported-schemas, 2025-11)."""
_MAX_SENT_DEPTH: Final = 10
_MAX_CHOICES_CHARS: Final = 15_000
_FORMAT: Final = re.compile(r"[a-z]+(?:-[a-z]+){0,3}")
_ANY_ITEM: Final[Schema] = {"type": "string"}
"""Items of a list of anything: servers want them declared."""
_TYPE_BY_KEYWORD: Final[Mapping[str, str]] = {
    **dict.fromkeys(("properties", "required", "additionalProperties"), "object"),
    **dict.fromkeys(("items", "prefixItems", "minItems", "maxItems"), "array"),
    **dict.fromkeys(("minimum", "maximum", "multipleOf"), "number"),
    **dict.fromkeys(("pattern", "format", "minLength", "maxLength"), "string"),
}
"""Keywords that say nothing about values of another type."""


@value
class Form:
    """What is kept of a schema: by type the keywords that bound values, and these formats of texts.

    One that `is_strict` requires all fields and takes no others, as structured answers need it.
    """

    bounds: Mapping[str, Sequence[str]]
    formats: frozenset[str] = frozenset()
    keeps_defaults: bool = False
    is_strict: bool = False


def write_schema(schema: Schema, form: Form) -> Schema:
    """Write a repaired schema in a form: the same bytes for the same schema."""
    return _Writer(form).write(schema)


def write_root(schema: Schema, form: Form) -> Schema:
    """Write a repaired schema of an object that is no union and of bounded size."""
    written = _Writer(form).write(unite_objects(schema))
    return _Pruner().prune(drop(written, "description"))


class _Writer:
    def __init__(self, form: Form) -> None:
        self._form = form
        self._parts_left = _MAX_PARTS

    def write(self, schema: Schema, *, takes_null: bool = True) -> Schema:
        self._parts_left -= 1
        if self._parts_left < 0:
            return {}
        schema = merge_all_of(schema)
        if "anyOf" not in schema and "oneOf" not in schema:
            return self._write_types(schema, takes_null=takes_null)
        if "properties" in schema:
            return self._write_types(unite_objects(schema), takes_null=takes_null)
        return self._write_union(schema, takes_null=takes_null)

    def _write_union(self, schema: Schema, *, takes_null: bool) -> Schema:
        """Write alternatives; what stands beside them holds for each."""
        shared = drop(schema, "anyOf", "oneOf", "description", "default")
        branches = [part for part in schema.get("anyOf") or schema["oneOf"] if part != NOTHING]
        written = [self.write(intersect(merge_all_of(part), shared)) for part in branches]
        return _unite(written, schema, takes_null=takes_null)

    def _write_types(self, schema: Schema, *, takes_null: bool) -> Schema:
        types = _list_types(schema)
        if not types:
            return _describe(schema)
        if len(types) == 1:
            return self._write_type(schema, types[0])
        bare = drop(schema, "description")
        written = [self._write_type(bare, name) for name in types]
        return _unite(written, schema, takes_null=takes_null)

    def _write_type(self, schema: Schema, name: str) -> Schema:
        bounds = self._get_bounds(schema, name)
        described = _describe(schema) or _describe_format(schema, bounds)
        choices = _list_choices(schema, name)
        written = {"type": name, **described, **({"enum": choices} if choices else {}), **bounds}
        if name == "object":
            written |= self._write_members(schema)
        if name == "array":
            written["items"] = self._write_items(schema)
        default = schema.get("default")
        if self._form.keeps_defaults and _is_telling(default, written):
            written["default"] = default
        return written

    def _get_bounds(self, schema: Schema, name: str) -> Schema:
        keywords = self._form.bounds.get(name, ())
        bounds = {keyword: schema[keyword] for keyword in keywords if keyword in schema}
        is_known = bounds.get("format") in self._form.formats
        return bounds if is_known else drop(bounds, "format")

    def _write_members(self, schema: Schema) -> Schema:
        declared = schema.get("properties", {})
        required = declared if self._form.is_strict else schema.get("required", ())
        properties = {
            name: self.write(part, takes_null=name in required)
            for name, part in declared.items()
            if part != NOTHING
        }
        names = [name for name in required if name in properties]
        if self._form.is_strict:
            return {"properties": properties, "required": names, "additionalProperties": False}
        written: Schema = {"properties": properties} if "properties" in schema else {}
        if names:
            written["required"] = names
        additional = schema.get("additionalProperties")
        if isinstance(additional, dict) and (members := self.write(additional)):
            written["additionalProperties"] = members
        return written

    def _write_items(self, schema: Schema) -> Schema:
        """Write what a list may hold at any place."""
        parts = [*schema.get("prefixItems", ()), *([schema["items"]] if "items" in schema else ())]
        items = self.write({"anyOf": parts}) if parts else {}
        return items if "type" in items or "anyOf" in items else {**items, **_ANY_ITEM}


def _list_types(schema: Schema) -> list[str]:
    """List the types that a schema names, or else those that its choices and keywords show."""
    declared = schema.get("type", [])
    types = [declared] if isinstance(declared, str) else declared
    types = types or [*dict.fromkeys(map(get_type, schema.get("enum", ())))]
    shown = (name for keyword, name in _TYPE_BY_KEYWORD.items() if keyword in schema)
    types = types or [*shown][:1]
    return [name for name in types if name != "integer" or "number" not in types]


def _list_choices(schema: Schema, name: str) -> list[Any]:
    choices = schema.get("enum", [])
    if name == "null" or not all(map(is_scalar, choices)):
        return []
    return [choice for choice in choices if fits(choice, [name])]


def _describe(schema: Schema) -> Schema:
    description = cut_description(schema.get("description", ""))
    return {"description": description} if description else {}


def cut_description(text: str) -> str:
    """Cut a description to what models are shown of it."""
    return text.strip()[:MAX_DESCRIPTION_CHARS].rstrip()


def _describe_format(schema: Schema, bounds: Schema) -> Schema:
    """Say in words which format is expected, where nothing else does."""
    name = schema.get("format", "")
    is_said = "format" in bounds or not _FORMAT.fullmatch(name)
    return {} if is_said else {"description": f"Format: {name}"}


def _is_telling(default: Any, written: Schema) -> bool:
    """Tell whether a default says more than that nothing is given."""
    if default in (None, "") or not is_scalar(default):
        return False
    return fits(default, [written["type"]]) and default in written.get("enum", [default])


def _unite(branches: Iterable[Schema], schema: Schema, *, takes_null: bool) -> Schema:
    """Write alternatives as one `anyOf`, or as the only one that is left."""
    spread = [part for branch in branches for part in branch.get("anyOf", [branch])]
    parts = _merge_choices(spread)
    if not takes_null:
        parts = [part for part in parts if part.get("type") != "null"] or parts
    described = _describe(schema)
    if not all("type" in part for part in parts):
        return described
    if len(parts) == 1:
        return {"type": parts[0]["type"], **described, **drop(parts[0], *described)}
    return {"anyOf": parts, **described} if parts else described


def _merge_choices(parts: Iterable[Schema]) -> list[Schema]:
    """Drop what is said twice, and say the choices of one type together."""
    merged: dict[str, Schema] = {}
    for part in parts:
        if part.keys() != {"type", "enum"}:
            merged.setdefault(json.dumps(part, sort_keys=True), part)
            continue
        name = part["type"]
        choices = [*merged.get(name, {"enum": []})["enum"], *part["enum"]]
        merged[name] = {"type": name, "enum": list_unique(choices)}
    return [*merged.values()]


class _Pruner:
    """Cuts what is too deep, or more than a schema may have; parts come in their order."""

    def __init__(self) -> None:
        self._parts_left = _MAX_SENT_PARTS

    def prune(self, schema: Schema, depth: int = 0) -> Schema:
        self._parts_left -= 1
        if "anyOf" in schema:
            has_room = self._has_room(depth) and len(schema["anyOf"]) <= self._parts_left
            parts = schema["anyOf"] if has_room else []
            return _unite([self.prune(part, depth + 1) for part in parts], schema, takes_null=True)
        pruned = drop(schema, *(() if self._takes_choices(schema) else ("enum",)))
        if "items" in schema:
            items = schema["items"]
            pruned["items"] = self.prune(items, depth + 1) if self._has_room(depth) else _ANY_ITEM
        return self._prune_members(pruned, depth)

    def _prune_members(self, schema: Schema, depth: int) -> Schema:
        pruned = drop(schema, "properties", "required", "additionalProperties")
        properties = {
            name: self.prune(part, depth + 1)
            for name, part in schema.get("properties", {}).items()
            if self._has_room(depth)
        }
        if properties or (depth == 0 and "properties" in schema):
            pruned["properties"] = properties
        if names := [name for name in schema.get("required", ()) if name in properties]:
            pruned["required"] = names
        if "additionalProperties" in schema and self._has_room(depth):
            pruned["additionalProperties"] = self.prune(schema["additionalProperties"], depth + 1)
        return pruned

    def _has_room(self, depth: int) -> bool:
        return depth < _MAX_SENT_DEPTH and self._parts_left > 0

    def _takes_choices(self, schema: Schema) -> bool:
        """Count the choices of a part; tell whether there is room for them."""
        choices = schema.get("enum", ())
        chars = sum(len(choice) for choice in choices if isinstance(choice, str))
        if len(choices) > self._parts_left or chars > _MAX_CHOICES_CHARS:
            return False
        self._parts_left -= len(choices)
        return True
