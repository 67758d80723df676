"""Absent arguments: what a model fills in where a tool call says nothing."""

from collections.abc import Mapping
from typing import Any

from shared.models.schema_merging import list_alternatives, unite_objects
from shared.models.schema_repair import NOTHING, Schema
from shared.models.schemas import read_parameters


def drop_absent(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out arguments that say nothing, in nested objects too: models fill in optional ones.

    Such are null, where a tool's parameters do not allow it, and an empty text, unless they name it:
    as a choice, or by `minLength: 0`. So is what they allow no value for. What is required stays.
    """
    return _drop_absent(arguments, read_parameters(parameters))


def _drop_absent(arguments: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Leave out what says nothing; of what is not described, nulls alone."""
    united = unite_objects(schema)
    required, properties = united["required"], united["properties"]
    is_map = isinstance(united.get("additionalProperties"), dict)
    others = {"minLength": 0} if is_map else {"type": "string", "minLength": 0}
    return {
        name: _drop_inside(argument, properties.get(name, {}))
        for name, argument in arguments.items()
        if name in required or not _is_absent(argument, properties.get(name, others))
    }


def _drop_inside(argument: Any, schema: Schema) -> Any:
    """Read as deep as a value is described."""
    described = [*list_alternatives(schema)]
    if isinstance(argument, dict) and any("properties" in branch for branch in described):
        return _drop_absent(argument, schema)
    items = [branch["items"] for branch in described if "items" in branch]
    if isinstance(argument, list) and items:
        return [_drop_inside(item, items[0]) for item in argument]
    return argument


def _is_absent(argument: Any, schema: Schema) -> bool:
    """Tell whether an optional argument says nothing."""
    if schema == NOTHING:
        return True
    if argument is None:
        return not any(map(_takes_null, list_alternatives(schema)))
    return argument == "" and not any(map(_names_empty_text, list_alternatives(schema)))


def _takes_null(schema: Schema) -> bool:
    return None in schema.get("enum", [None]) and "null" in schema.get("type", "null")


def _names_empty_text(schema: Schema) -> bool:
    return "" in schema.get("enum", ()) or schema.get("minLength") == 0
