"""Parameters of a declared tool: an untrusted JSON Schema, parsed, inlined and bounded.

It is kept as declared, mistakes included: `shared/models/schema_repair.py` reads what is meant.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from shared.security.visible_text import strip_invisible

_MAX_SCHEMA_BYTES = 16_384
_MAX_TOTAL_SCHEMA_BYTES = 65_536
"""For all tools of an app together: more would only fill the model's prompt."""
_NODE_COST_CHARS = 8
"""Counted for each part of a schema: a million empty maps are a short text."""
_MAX_DEPTH = 32


class InvalidTool(ValueError):
    """One tool cannot be used; the others can."""


def parse_parameters(declaration: Any, budget: "SchemaBudget") -> Mapping[str, Any]:
    """Return the declaration of an object without references. Raises InvalidTool."""
    if isinstance(declaration, str):
        declaration = _parse_text(declaration)
    if declaration is None:
        declaration = {}
    if not isinstance(declaration, dict) or declaration.get("type", "object") != "object":
        raise InvalidTool("`parameters` must be a JSON Schema of type object")
    if not isinstance(declaration.get("properties", {}), dict):
        raise InvalidTool("`properties` of `parameters` must be an object")
    schema = {"type": "object", "properties": {}, **declaration}
    budget.start_tool()
    schema = _Inliner(schema, budget).inline(schema)
    if len(json.dumps(schema, ensure_ascii=False).encode()) > _MAX_SCHEMA_BYTES:
        raise InvalidTool(f"`parameters` is over {_MAX_SCHEMA_BYTES} bytes")
    return cast("Mapping[str, Any]", schema)


def _parse_text(declaration: str) -> Any:
    try:
        return read_json(declaration)
    except (ValueError, RecursionError) as error:
        raise InvalidTool("`parameters` is text that is not JSON") from error


def read_json(text: bytes | str) -> Any:
    """Parse JSON and strip invisible characters. Raises ValueError and RecursionError."""
    json_text = json.dumps(json.loads(text, parse_constant=_reject_constant), ensure_ascii=False)
    json_text.encode()  # fails on half a surrogate pair
    return json.loads(strip_invisible(json_text), parse_constant=_reject_constant)  # of 1e999


def _reject_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


class SchemaBudget:
    """Characters of inlined schemas that are left: for one tool, and for all together."""

    def __init__(self) -> None:
        self._chars_left_of_all = _MAX_TOTAL_SCHEMA_BYTES
        self._chars_left_of_tool = 0

    def start_tool(self) -> None:
        """Reset what is left for one tool."""
        self._chars_left_of_tool = _MAX_SCHEMA_BYTES

    def spend(self, chars: int) -> None:
        self._chars_left_of_tool -= chars
        self._chars_left_of_all -= chars
        if self._chars_left_of_tool < 0 or self._chars_left_of_all < 0:
            raise InvalidTool(
                f"`parameters` is over {_MAX_SCHEMA_BYTES} bytes,"
                f" or those of all tools over {_MAX_TOTAL_SCHEMA_BYTES}"
            )


class _Inliner:
    """Replaces `$ref`s by what they refer to, so that no model or validator has to follow them.

    The budget bounds schemas whose references expand without end.
    """

    def __init__(self, root: Mapping[str, Any], budget: SchemaBudget) -> None:
        self._root = root
        self._budget = budget

    def inline(self, node: Any, *, depth: int = 0, open_references: Sequence[str] = ()) -> Any:
        """Write out references; where one leads back to itself, any object may stand."""
        if depth > _MAX_DEPTH:
            raise InvalidTool("`parameters` is too deep")
        self._budget.spend(_count_chars(node))
        inline = partial(self.inline, depth=depth + 1, open_references=open_references)
        if isinstance(node, list):
            return [inline(item) for item in node]
        if not isinstance(node, dict):
            return node
        reference = node.get("$ref")
        if isinstance(reference, str):
            siblings = {name: value for name, value in node.items() if name != "$ref"}
            if reference in open_references:
                return inline({"type": "object", **siblings})
            target = {**self._resolve(reference), **siblings}
            return inline(target, open_references=(*open_references, reference))
        skipped_names = ("$defs", "definitions") if depth == 0 else ()
        return {
            name: inline(value)
            for name, value in node.items()
            if name not in skipped_names and not _names_dialect(name, value)
        }

    def _resolve(self, reference: str) -> Mapping[str, Any]:
        if not reference.startswith("#"):
            raise InvalidTool("`parameters` refers to another document")
        node: Any = self._root
        for part in reference.removeprefix("#").split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            node = node.get(name) if isinstance(node, dict) else None
        if not isinstance(node, dict):
            raise InvalidTool("`parameters` has a reference that does not exist")
        return node


def _names_dialect(name: str, value: Any) -> bool:
    """Tell whether a keyword would have a part of the schema read by the rules of another one."""
    return name in ("$schema", "$id") and isinstance(value, str)


def _count_chars(node: Any) -> int:
    """Count a node's own characters and its place in memory, without its parts."""
    if isinstance(node, dict):
        return _NODE_COST_CHARS + sum(map(len, node))
    return _NODE_COST_CHARS + len(node) if isinstance(node, str) else _NODE_COST_CHARS
