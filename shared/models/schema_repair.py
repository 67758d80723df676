"""Repair of JSON Schemas that strangers declare: what comes out is valid and has no references; pure.

What a schema means stays, except where a validator would have to run patterns of strangers.

Also called: schema normalization.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import isfinite
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from shared.domain.value import value

Schema: TypeAlias = dict[str, Any]
NOTHING: Final[Schema] = {"not": {}}
"""The schema that no value fits."""
_MAX_DEPTH: Final = 32
_MAX_PARTS: Final = 5_000
"""Parts of one schema that are read, references written out; what comes later may be anything."""
_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("object", "dict", "dictionary", "map", "record", "struct"), "object"),
    **dict.fromkeys(("array", "list", "tuple", "set", "sequence"), "array"),
    **dict.fromkeys(("integer", "int", "int32", "int64", "long", "short"), "integer"),
    **dict.fromkeys(("number", "float", "double", "decimal", "numeric"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("null", "none", "undefined"), "null"),
}
"""Types as people write them, in lower case; any other name is a text, as Omi reads it."""
_ANY_TYPE: Final = "any"
_IN_PLACE_LISTS: Final = ("anyOf", "oneOf", "allOf")
_IN_PLACE: Final = ("not", "if", "then", "else")
_OF_MEMBERS: Final = ("contains", "propertyNames")
_TEXTS: Final = ("description", "title", "format", "pattern")
_LIMITS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_COUNTS: Final = (
    *("minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains"),
    *("minProperties", "maxProperties"),
)


def repair_schema(declared: Any) -> Schema:
    """Return a valid JSON Schema of 2020-12 that means what is declared; never raises.

    References are written out, and a recursive one may be any object. Types get their names, and
    `required: true` of a property is said by its parent. Nobody is asked for what is not described.
    """
    return _restrict_required(_Repair(declared).repair(declared, _Place()), frozenset())


def repair_parameters(declared: Any, *, given: Sequence[str] = ()) -> Schema:
    """Return the repaired parameters of a tool: an object, to which nobody adds what is `given` anyway."""
    schema = _Repair(declared).repair(declared, _Place())
    if "object" not in _list(schema, "type") and schema.get("type", "object") != "object":
        schema = {}
    parameters = {**schema, "type": "object", "properties": schema.get("properties", {})}
    parameters.pop("enum", None)  # no list of choices names whole arguments
    return _restrict_required(_forbid(parameters, given), frozenset())


def _forbid(schema: Schema, names: Sequence[str]) -> Schema:
    """Take nothing for these properties, where a schema or its alternatives describe them."""
    changed = dict(schema)
    if "properties" in schema:
        changed["properties"] = {
            name: NOTHING if name in names else part for name, part in schema["properties"].items()
        }
    for keyword in _IN_PLACE_LISTS:
        if keyword in schema:
            changed[keyword] = [_forbid(part, names) for part in schema[keyword]]
    return changed


@value
class _Place:
    """Where a part stands: how deep, and behind which references."""

    depth: int = 0
    references: tuple[str, ...] = ()

    def enter(self, *reference: str) -> "_Place":
        return _Place(depth=self.depth + 1, references=(*self.references, *reference))


class _Repair:
    def __init__(self, root: Any) -> None:
        self._root = root
        self._parts_left = _MAX_PARTS

    def repair(self, node: Any, place: _Place) -> Schema:
        self._parts_left -= 1
        if node is False:
            return NOTHING
        if not isinstance(node, Mapping) or self._parts_left < 0 or place.depth > _MAX_DEPTH:
            return {}
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return self._repair_node(node, place.enter())
        siblings = {name: part for name, part in node.items() if name != "$ref"}
        if reference in place.references:
            return {**_read_texts(siblings), "type": "object"}
        target = _resolve(self._root, reference)
        return self.repair({**target, **siblings}, place.enter(reference))

    def _repair_node(self, node: Mapping[str, Any], inside: _Place) -> Schema:
        repaired = _read_texts(node) | _repair_values(node)
        repaired |= self._repair_members(node, inside) | self._repair_items(node, inside)
        for keyword in _IN_PLACE_LISTS:
            if parts := [self.repair(part, inside) for part in _list(node, keyword)]:
                repaired[keyword] = parts
        for keyword in (*_IN_PLACE, *_OF_MEMBERS):
            if isinstance(node.get(keyword), Mapping | bool):
                repaired[keyword] = self.repair(node[keyword], inside)
        return repaired

    def _repair_members(self, node: Mapping[str, Any], inside: _Place) -> Schema:
        """Read what an object may hold; where names may follow a pattern, any name may be there."""
        repaired: Schema = {}
        properties = node.get("properties")
        if isinstance(properties, Mapping):
            named = {name: part for name, part in properties.items() if isinstance(name, str)}
            repaired["properties"] = {
                name: self.repair(part, inside) for name, part in named.items()
            }
        if required := _list_required(node):
            repaired["required"] = required
        additional = node.get("additionalProperties")
        if "patternProperties" not in node and isinstance(additional, Mapping | bool):
            is_flag = isinstance(additional, bool)
            repaired["additionalProperties"] = (
                additional if is_flag else self.repair(additional, inside)
            )
        return repaired

    def _repair_items(self, node: Mapping[str, Any], inside: _Place) -> Schema:
        """Read the items of a list; drafts before 2020 give a list of schemas, one for each item."""
        items = node.get("items")
        leading = _list(node, "prefixItems") or _list(node, "items")
        rest = node.get("additionalItems") if isinstance(items, list | tuple) else items
        repaired: Schema = {}
        if leading:
            repaired["prefixItems"] = [self.repair(part, inside) for part in leading]
        if isinstance(rest, Mapping | bool):
            repaired["items"] = self.repair(rest, inside)
        return repaired


def _read_texts(node: Mapping[str, Any]) -> Schema:
    return {keyword: node[keyword] for keyword in _TEXTS if isinstance(node.get(keyword), str)}


def _list(node: Mapping[str, Any], keyword: str) -> Sequence[Any]:
    part = node.get(keyword)
    return part if isinstance(part, list | tuple) else ()


def _resolve(root: Any, reference: str) -> Mapping[str, Any]:
    """Return what a reference into the same schema names; nothing for any other."""
    node = root if reference.startswith("#") else None
    for part in reference.partition("#")[2].split("/")[1:]:
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = node.get(name)
        elif isinstance(node, list | tuple) and name.isdecimal() and int(name) < len(node):
            node = node[int(name)]
        else:
            return {}
    return node if isinstance(node, Mapping) else {}


def _list_required(node: Mapping[str, Any]) -> list[str]:
    """List the names that an object or its properties say to be required."""
    properties = node.get("properties")
    parts = properties.items() if isinstance(properties, Mapping) else ()
    marked = (name for name, part in parts if _is_marked(part))
    names = chain(_list(node, "required"), marked)
    return [*dict.fromkeys(name for name in names if isinstance(name, str))]


def _is_marked(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("required") is True


def _restrict_required(schema: Schema, outer_names: frozenset[str]) -> Schema:
    """Require no name that neither the object nor what is applied to it describes."""
    names = outer_names | _list_names(schema)
    restricted = {
        keyword: _restrict_keyword(keyword, part, names) for keyword, part in schema.items()
    }
    if not restricted.get("required", True):
        del restricted["required"]
    return restricted


def _restrict_keyword(keyword: str, part: Any, names: frozenset[str]) -> Any:
    if keyword == "required":
        return [name for name in part if name in names]
    if keyword == "properties":
        return {name: _restrict_required(nested, frozenset()) for name, nested in part.items()}
    is_in_place = keyword in (*_IN_PLACE_LISTS, *_IN_PLACE)
    known_names = names if is_in_place else frozenset()
    if keyword in (*_IN_PLACE_LISTS, "prefixItems"):
        return [_restrict_required(nested, known_names) for nested in part]
    is_schema = keyword in (*_IN_PLACE, *_OF_MEMBERS, "items", "additionalProperties")
    return _restrict_required(part, known_names) if is_schema and isinstance(part, dict) else part


def _list_names(schema: Schema) -> frozenset[str]:
    """Return the properties that a schema, or what it applies in place, describes."""
    parts = [part for keyword in _IN_PLACE_LISTS for part in schema.get(keyword, ())]
    parts += [schema[keyword] for keyword in _IN_PLACE if keyword in schema]
    own = (name for name, part in schema.get("properties", {}).items() if part != NOTHING)
    return frozenset(own).union(*map(_list_names, parts))


def _repair_values(node: Mapping[str, Any]) -> Schema:
    """Read the types, choices and bounds of a schema."""
    types, choices = _list_types(node), _list_choices(node)
    if choices and types and not any(fits(choice, types) for choice in choices):
        types = [*dict.fromkeys(map(get_type, choices))]
    if node.get("nullable") is True and types:
        types = [*dict.fromkeys((*types, "null"))]
        choices = [*choices, None] if choices and None not in choices else choices
    repaired: Schema = {}
    if types:
        repaired["type"] = types[0] if len(types) == 1 else types
    if choices:
        repaired["enum"] = choices
    if "default" in node:
        repaired["default"] = node["default"]
    return repaired | dict(_list_bounds(node))


def _list_types(node: Mapping[str, Any]) -> list[str]:
    declared = node.get("type")
    names = declared if isinstance(declared, list | tuple) else (declared,)
    words = [name.strip().lower() for name in names if isinstance(name, str)]
    if _ANY_TYPE in words:
        return []
    return [*dict.fromkeys(_TYPES.get(word, "string") for word in words)]


def _list_choices(node: Mapping[str, Any]) -> list[Any]:
    """List the choices of `enum` or `const`, each once."""
    choices = [node["const"]] if "const" in node else _list(node, "enum")
    return list_unique(choices) if all(map(is_scalar, choices)) else [*choices]


def list_unique(choices: Iterable[Any]) -> list[Any]:
    """List choices, each as it comes first; 1 and 1.0 are one, 1 and true are two."""
    unique: dict[tuple[str, Any], Any] = {}
    for choice in choices:
        unique.setdefault((get_type(choice), choice), choice)
    return [*unique.values()]


def is_scalar(choice: Any) -> bool:
    """Tell whether a choice is neither a list nor an object."""
    return choice is None or isinstance(choice, str | bool) or is_number(choice)


def is_number(choice: Any) -> bool:
    """Tell whether a value is a number that JSON knows."""
    if isinstance(choice, float):
        return isfinite(choice)
    return isinstance(choice, int) and not isinstance(choice, bool)


def get_type(choice: Any) -> str:
    """Return the type of a choice; a whole number is an integer, however it is written."""
    if isinstance(choice, bool):
        return "boolean"
    if isinstance(choice, int | float):
        return "integer" if isinstance(choice, int) or choice.is_integer() else "number"
    if isinstance(choice, Mapping):
        return "object"
    if isinstance(choice, list | tuple):
        return "array"
    return "null" if choice is None else "string"


def fits(choice: Any, types: Sequence[str]) -> bool:
    """Tell whether a choice has one of the types."""
    name = get_type(choice)
    return name in types or (name == "integer" and "number" in types)


def _list_bounds(node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    checks: Mapping[str, Callable[[Any], bool]] = {
        **dict.fromkeys(_LIMITS, is_number),
        **dict.fromkeys(_COUNTS, lambda bound: is_number(bound) and bound >= 0 and bound % 1 == 0),
        "multipleOf": lambda bound: is_number(bound) and bound > 0,
        "uniqueItems": lambda bound: isinstance(bound, bool),
    }
    for keyword, is_valid in checks.items():
        if keyword in node and is_valid(node[keyword]):
            yield keyword, node[keyword]
