"""Schemas as OpenAI documents them for tools and for structured answers, and the words it refuses others with.

| rule | source |
|---|---|
| root of a tool: type object, no union | langchain-ai/langchainjs#9804, chatanywhere/GPT_API_free#403 |
| arrays have items | sigoden/aichat#1049; in a list of types: campfirein/byterover-cli#42 |
| root object has properties | platform.openai.com, function calling; the same words in many reports |
| keywords have their types | OpenAI checks the schema of a schema: "'float' is not valid under any of …" |
| strict: supported keywords | platform.openai.com/docs/guides/structured-outputs#supported-schemas; liam-hq/liam#1162 |
| strict: all required, no others | the same guide |
| strict: `$ref` stands alone | pydantic's schemas with descriptions beside references |
| strict: 10 levels, 5,000 properties, 1,000 choices, 120,000 characters of names | the same guide; tidyverse/ellmer#671 |
| strict: alternatives begin differently | nicopin, zenn.dev: "must not share identical first keys" |
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator, SchemaError

_UNIONS = ("oneOf", "anyOf", "allOf", "enum", "not")
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
_STRICT_KEYWORDS = frozenset(
    {
        *(
            "type",
            "title",
            "description",
            "properties",
            "required",
            "additionalProperties",
            "items",
        ),
        *("enum", "const", "anyOf", "$ref", "$defs", "definitions", "pattern", "format"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minItems", "maxItems"),
    }
)
_MOST_LEVELS, _MOST_PROPERTIES, _MOST_CHOICES, _MOST_NAME_CHARS = 10, 5_000, 1_000, 120_000
Path = tuple[str, ...]
Schema = Mapping[str, Any]


def find_tool_problem(schema: Any) -> str | None:
    """Return what OpenAI says of the parameters of a function that is not strict; None: it takes them."""
    if not isinstance(schema, Mapping):
        return f"{schema!r} is not of type 'object'."
    if schema.get("type") != "object":
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{schema.get('type')}\"'."
    if any(union in schema for union in _UNIONS):
        named = "/".join(f"'{union}'" for union in _UNIONS)
        return f"schema must have type 'object' and not have {named} at the top level."
    if not isinstance(schema.get("properties"), Mapping):
        return "In context=(), object schema missing properties."
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"{error.message}."
    return next(_find_missing_items(schema, ()), None)


def _find_missing_items(schema: Any, path: Path) -> Iterator[str]:
    for part, place in list_parts(schema, path):
        types = part.get("type", ())
        if types == "array" and "items" not in part:
            yield f"In context={place}, array schema missing items."
        if isinstance(types, list) and "array" in types and "items" not in part:
            where = (*place, "type", str(types.index("array")))
            yield f"In context={where}, array schema missing items."


def list_parts(schema: Any, path: Path = ()) -> Iterator[tuple[Schema, Path]]:
    """Yield a schema and every schema inside it, with its place."""
    if not isinstance(schema, Mapping):
        return
    yield schema, path
    for keyword in ("properties", "$defs", "definitions", "patternProperties"):
        for name, part in schema.get(keyword, {}).items():
            yield from list_parts(part, (*path, keyword, name))
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for number, part in enumerate(schema.get(keyword, ())):
            yield from list_parts(part, (*path, keyword, str(number)))
    for keyword in ("items", "additionalProperties", "not", "if", "then", "else", "contains"):
        yield from list_parts(schema.get(keyword), (*path, keyword))


def find_strict_problem(schema: Any) -> str | None:
    """Return what OpenAI says of a strict schema; None: it takes it."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        got = schema.get("type") if isinstance(schema, Mapping) else schema
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{got}\"'."
    if "anyOf" in schema:
        return "In context=(), 'anyOf' is not permitted."
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"{error.message}."
    problems = (
        f"In context={place}, {problem}"
        for part, place in list_parts(schema)
        for problem in _list_strict_problems(part)
    )
    return next(problems, None) or next(_list_excesses(schema), None)


def _list_strict_problems(part: Schema) -> Iterator[str]:
    for keyword in sorted(part.keys() - _STRICT_KEYWORDS):
        yield f"'{keyword}' is not permitted."
    if "$ref" in part:
        if others := part.keys() - {"$ref"}:
            yield f"$ref cannot have keywords {others!r}."
        return
    if "anyOf" in part:
        yield from _list_union_problems(part["anyOf"])
    elif "type" not in part and not {"enum", "const"} & part.keys():
        yield "schema must have a 'type' key."
    if part.get("type") == "object" or "properties" in part:
        yield from _list_object_problems(part)
    yield from _list_value_problems(part)


def _list_value_problems(part: Schema) -> Iterator[str]:
    if part.get("type") == "array" and "items" not in part:
        yield "array schema missing items."
    if part.get("format", "date") not in _FORMATS:
        yield f"'{part['format']}' is not a valid format."
    kind = Draft202012Validator({"type": part["type"]} if "type" in part else True)
    for choice in part.get("enum", ()):
        if not kind.is_valid(choice):
            yield f"enum value {choice} does not validate against {{'type': '{part['type']}'}}."


def _list_object_problems(part: Schema) -> Iterator[str]:
    if part.get("additionalProperties") is not False:
        yield "'additionalProperties' is required to be supplied and to be false."
    names, required = [*part.get("properties", {})], [*part.get("required", ())]
    if missing := next((name for name in names if name not in required), None):
        yield (
            "'required' is required to be supplied and to be an array including every key in properties. "
            f"Missing '{missing}'."
        )
    if extra := next((name for name in required if name not in names), None):
        yield f"Extra required key '{extra}' supplied."


def _list_union_problems(alternatives: Sequence[Schema]) -> Iterator[str]:
    firsts = []
    for alternative in alternatives:
        name, first = next(iter(alternative.get("properties", {}).items()), (None, None))
        if name is not None:
            firsts.append(json.dumps([name, first]))
    if len(firsts) != len(set(firsts)):
        yield (
            "Objects provided via 'anyOf' must not share identical first keys. Consider adding a "
            "discriminator key or rearranging the properties to ensure the first key is unique."
        )


def _list_excesses(schema: Schema) -> Iterator[str]:
    levels = _count_levels(schema)
    if levels > _MOST_LEVELS:
        yield f"{levels} levels of nesting exceeds limit of {_MOST_LEVELS}."
    parts = [part for part, _ in list_parts(schema)]
    names = [name for part in parts for name in part.get("properties", {})]
    choices = [choice for part in parts for choice in part.get("enum", ())]
    if len(names) > _MOST_PROPERTIES:
        yield f"Expected at most {_MOST_PROPERTIES} total object properties, but got {len(names)}."
    if len(choices) > _MOST_CHOICES:
        yield f"Expected at most {_MOST_CHOICES} enum values in total, but got {len(choices)}."
    if sum(map(len, map(str, [*names, *choices]))) > _MOST_NAME_CHARS:
        yield f"Expected at most {_MOST_NAME_CHARS} characters of names and enum values in total."


def _count_levels(schema: Any) -> int:
    """Count objects in objects; arrays between them are no level."""
    if not isinstance(schema, Mapping):
        return 0
    nested = [
        *schema.get("properties", {}).values(),
        *schema.get("anyOf", ()),
        schema.get("items"),
        *schema.get("$defs", {}).values(),
    ]
    return ("properties" in schema) + max(map(_count_levels, nested), default=0)
