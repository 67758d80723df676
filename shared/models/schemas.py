"""Schemas as model servers take them: parameters of tools, and schemas of structured answers; pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from shared.domain.models.model import ToolSpec
from shared.models.schema_forms import Form, cut_description, write_root, write_schema
from shared.models.schema_repair import Schema, repair_parameters, repair_schema

_BOUNDS: Final = ("minimum", "maximum")
_TOOL: Final = Form(bounds={"number": _BOUNDS, "integer": _BOUNDS}, keeps_defaults=True)
_PLAIN_TOOL: Final = Form(bounds={})
_STRICT_BOUNDS: Final = (*_BOUNDS, "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_ANSWER: Final = Form(
    bounds={
        "number": _STRICT_BOUNDS,
        "integer": _STRICT_BOUNDS,
        "string": ("pattern", "format"),
        "array": ("minItems", "maxItems"),
    },
    formats=frozenset(
        {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
    ),
    is_strict=True,
)
"""From https://platform.openai.com/docs/guides/structured-outputs#supported-schemas, 2025-11."""
_PLAIN_ANSWER: Final = Form(bounds={}, is_strict=True)


def read_parameters(declared: Mapping[str, Any], *, given: Sequence[str] = ()) -> Schema:
    """Return the declared parameters of a tool as a valid schema, by which we check its calls.

    What is `given` with each call anyway is never asked for, and taken from nobody.
    """
    return _read_parameters(_encode(declared), tuple(given))


@lru_cache(maxsize=256)
def _read_parameters(declaration: str, given: tuple[str, ...]) -> Schema:
    """Read the same bytes once: a turn asks for the same tools in each request."""
    return repair_parameters(json.loads(declaration), given=given)


def normalise_tool(spec: ToolSpec, *, plain: bool = False) -> ToolSpec:
    """Return the tool as servers take it: never raises, and a normal tool comes back as it is.

    What is left out is checked by our validation. With `plain` no value is bounded: servers that
    build grammars refuse large bounds, and some patterns and formats.
    """
    return replace(
        spec,
        description=cut_description(spec.description),
        parameters=_normalise_parameters(_encode(spec.parameters), plain),
    )


@lru_cache(maxsize=256)
def _normalise_parameters(declaration: str, plain: bool) -> dict[str, Any]:  # noqa: FBT001 - part of the key
    return write_root(_read_parameters(declaration, ()), _PLAIN_TOOL if plain else _TOOL)


def _encode(content: Any) -> str:
    """Write JSON; an empty object for what is nested too deep to be read by anybody."""
    try:
        return json.dumps(content, default=dict)
    except RecursionError:
        return "{}"


def normalise_answer_schema(schema: Mapping[str, Any], *, plain: bool = False) -> dict[str, Any]:
    """Return the schema of an answer as strict mode needs it: all fields required, no others.

    With `plain` no value is bounded, as for tools. The answer is parsed by the whole schema.
    """
    return _normalise_answer(_encode(schema), plain)


@lru_cache(maxsize=256)
def _normalise_answer(declaration: str, plain: bool) -> dict[str, Any]:  # noqa: FBT001 - part of the key
    schema = repair_schema(json.loads(declaration))
    return write_schema(schema, _PLAIN_ANSWER if plain else _ANSWER)


def hash_declaration(spec: ToolSpec) -> str:
    """Hash what a tool declares: name, description and parameters; 16 hexadecimal digits."""
    declaration = "\n".join((spec.name, spec.description, _encode(spec.parameters)))
    return sha256(declaration.encode("utf-8", "surrogatepass")).hexdigest()[:16]
