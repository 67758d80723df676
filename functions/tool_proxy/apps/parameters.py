"""The JSON Schema of a tool's arguments as a stranger wrote it: read, written out, and bounded."""

import json
from collections.abc import Mapping
from typing import Any, cast

from shared.domain.text import visible

_MAX_SCHEMA_BYTES = 16_384
_MAX_SCHEMAS_BYTES = 65_536
"""For all tools of an app: what is beyond would only crowd the model's prompt."""
_PLACE = 8
"""Characters that any part of a schema counts for: a million empty maps are a short text."""
_MAX_DEPTH = 32
_COSTLY = (
    "patternProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "$dynamicRef",
    "$recursiveRef",
)
"""Keywords whose validation a stranger can make take exponential time, or follow references."""


class BadTool(ValueError):
    """One tool cannot be used; the others can."""


def parameters(declared: Any, allowance: "Allowance") -> Mapping[str, Any]:
    """Return a JSON Schema of type object that stands alone: references are written out.

    Raises BadTool.
    """
    if isinstance(declared, str):
        declared = _from_text(declared)
    if declared is None:
        declared = {}
    if not isinstance(declared, dict) or declared.get("type", "object") != "object":
        raise BadTool("`parameters` must be a JSON Schema of type object")
    schema = {"type": "object", "properties": {}, **declared}
    allowance.begin()
    schema = _Inliner(schema, allowance).inline(schema, depth=0)
    schema.pop("$defs", None)
    schema.pop("definitions", None)
    _check_schema(schema)
    return cast("Mapping[str, Any]", schema)


def _from_text(declared: str) -> Any:
    try:
        return read_json(declared)
    except (ValueError, RecursionError) as error:
        raise BadTool("`parameters` is text that is not JSON") from error


def read_json(text: bytes | str) -> Any:
    """Read JSON without what a model would read and nobody sees. Raises ValueError, RecursionError."""
    whole = json.dumps(json.loads(text, parse_constant=_no_number), ensure_ascii=False)
    whole.encode()  # fails on half a surrogate pair
    return json.loads(visible(whole))


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


class Allowance:
    """How many characters of schemas may be written out: for one tool, and for all."""

    def __init__(self) -> None:
        self._of_all = _MAX_SCHEMAS_BYTES
        self._of_this = 0

    def begin(self) -> None:
        """Begin with the next tool."""
        self._of_this = _MAX_SCHEMA_BYTES

    def spend(self, chars: int) -> None:
        self._of_this -= chars
        self._of_all -= chars
        if self._of_this < 0 or self._of_all < 0:
            raise BadTool(
                f"`parameters` is over {_MAX_SCHEMA_BYTES} bytes,"
                f" or those of all tools over {_MAX_SCHEMAS_BYTES}"
            )


class _Inliner:
    """Writes out `$ref`s, so that neither a model nor a validator has to follow any.

    What a reference may cost is bounded: an exploding schema runs out of its allowance.
    """

    def __init__(self, root: Mapping[str, Any], allowance: Allowance) -> None:
        self._root = root
        self._allowance = allowance

    def inline(self, node: Any, *, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise BadTool("`parameters` is recursive or too deep")
        self._allowance.spend(_chars(node))
        if isinstance(node, list):
            return [self.inline(item, depth=depth + 1) for item in node]
        if not isinstance(node, dict):
            return node
        if isinstance(node.get("$ref"), str):
            rest = {name: value for name, value in node.items() if name != "$ref"}
            return self.inline({**self._resolve(node["$ref"]), **rest}, depth=depth + 1)
        skipped = ("$defs", "definitions") if depth == 0 else ()
        return {
            name: self.inline(value, depth=depth + 1)
            for name, value in node.items()
            if name not in skipped
        }

    def _resolve(self, reference: str) -> Mapping[str, Any]:
        if not reference.startswith("#"):
            raise BadTool("`parameters` refers to another document")
        node: Any = self._root
        for part in reference.removeprefix("#").split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            node = node.get(name) if isinstance(node, dict) else None
        if not isinstance(node, dict):
            raise BadTool("`parameters` refers to what is not there")
        return node


def _chars(node: Any) -> int:
    """Count what a node adds to a schema, for its text and its place in memory; its parts count for themselves."""
    if isinstance(node, dict):
        return _PLACE + sum(map(len, node))
    return _PLACE + len(node) if isinstance(node, str) else _PLACE


def _check_schema(schema: Mapping[str, Any]) -> None:
    from jsonschema import Draft202012Validator, SchemaError

    if len(json.dumps(schema, ensure_ascii=False).encode()) > _MAX_SCHEMA_BYTES:
        raise BadTool(f"`parameters` is over {_MAX_SCHEMA_BYTES} bytes")
    if used := next((keyword for keyword in _COSTLY if _uses(schema, keyword)), None):
        raise BadTool(f"`parameters` uses {used}")
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise BadTool(f"`parameters` is not a JSON Schema: {error.message}") from error


def _uses(node: Any, keyword: str) -> bool:
    if isinstance(node, list):
        return any(_uses(item, keyword) for item in node)
    if isinstance(node, dict):
        return keyword in node or any(_uses(value, keyword) for value in node.values())
    return False
