"""Schemas as model servers take them: parameters of tools, and forms of structured answers; pure."""

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

from shared.domain.model import ToolSpec

_MAX_DESCRIPTION_CHARS = 1_000
"""OpenAI takes 1,024; https://platform.openai.com/docs/api-reference/chat/create, 2025-11."""
_UNSUPPORTED_KEYWORDS = frozenset({"default", "title", "minLength", "maxLength", "uniqueItems"})
"""Keywords that strict mode refuses; the answer is parsed by the whole schema."""


def normalise_tool(spec: ToolSpec, *, plain: bool = False) -> ToolSpec:
    """Return the tool as servers take it, without what they refuse; our validation checks the rest.

    With `plain`, without any bound: servers that build grammars refuse large ones.
    """
    return replace(spec, description=spec.description[:_MAX_DESCRIPTION_CHARS])


def hash_declaration(spec: ToolSpec) -> str:
    """Hash what a tool declares: name, description and parameters; 16 hexadecimal digits."""
    declaration = [spec.name, spec.description, spec.parameters]
    return sha256(json.dumps(declaration, sort_keys=True).encode()).hexdigest()[:16]


def normalise_answer_schema(schema: Mapping[str, Any], *, plain: bool = False) -> dict[str, Any]:
    """Return the schema of an answer as strict mode needs it: all fields required, no others."""
    strict: dict[str, Any] = _to_strict(schema)
    return strict


def _to_strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_to_strict(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    strict = {
        key: _to_strict_part(key, part)
        for key, part in schema.items()
        if key not in _UNSUPPORTED_KEYWORDS
    }
    if "properties" in strict:
        strict |= {"required": list(strict["properties"]), "additionalProperties": False}
    return strict


def _to_strict_part(key: str, part: Any) -> Any:
    """Keep field names: a field may be called `title` or `default`."""
    if key in {"properties", "$defs"}:
        return {name: _to_strict(schema) for name, schema in part.items()}
    return _to_strict(part)
