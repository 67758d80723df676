"""Argument schema: how probable each kind of value is where a JSON Schema declares what it expects.

Every kind has a share everywhere, because arguments are measured before anything validates them.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import inf, log2
from typing import Any, Final

from shared.domain.value import value

SHARES: Final[Mapping[str, Mapping[str, float]]] = {
    "string": {
        "words": 0.3,
        "part": 0.08,
        "phrase": 0.11,
        "returned": 0.1,
        "described": 0.065,
        "time": 0.115,
        "text": 0.15625,
        "empty": 0.02375,
        "public": 0.05,
    },
    "time": {
        "words": 0.1,
        "part": 0.01,
        "phrase": 0.01,
        "returned": 0.08,
        "described": 0.01,
        "time": 0.69,
        "text": 0.08,
        "empty": 0.01,
        "public": 0.01,
    },
    "number": {"number": 0.48, "number_word": 0.33, "number_returned": 0.16, "public": 0.03},
    "boolean": {"true": 0.5, "false": 0.5},
    "array": {"list": 1.0},
    "object": {"object": 1.0},
    "null": {"null": 1.0},
    "any": {
        "words": 0.17,
        "part": 0.04,
        "phrase": 0.05,
        "described": 0.02,
        "returned": 0.075,
        "time": 0.075,
        "text": 0.12,
        "empty": 0.03,
        "public": 0.02,
        "number": 0.11,
        "number_word": 0.08,
        "number_returned": 0.04,
        "true": 0.04,
        "false": 0.04,
        "null": 0.03,
        "list": 0.03,
        "object": 0.03,
    },
}
"""Kinds of values for each declared type: shares that sum to 1."""
KINDS: Final = tuple(SHARES["any"])
_UNEXPECTED_SHARE: Final = 0.03
"""For values of another type than the declared one, over all kinds."""
_NULL_WEIGHT: Final = 0.15
"""Of null, where it is one of several types."""
_CHOICE_SHARE: Final = 0.9
"""For the choices of an enum, where there is one."""
_DEFAULT_SHARE: Final = 0.06
_TIME_PATTERN: Final = re.compile("YYYY-MM-DD|ISO[ -]?8601")
_SECOND_TIME_SHARE: Final = 0.4
"""For a time where a text may be one and an earlier argument is one: most spans have an end."""
_MIN_TIME_SHARE: Final = 0.05
_DESCRIBED: Final = (
    re.compile(r"\w(?:[\w./-]*\w)?"),
    re.compile(r"['\"`‘“]([^'\"`’”\n]{1,60})['\"`’”]"),
)
"""Words of a description, and what it quotes."""
_MAX_BRANCHES: Final = 64
_MAX_EXACT_INTEGER: Final = 2**53
Key = tuple[str, Any]


@value
class ArgumentSchema:
    """One place of a tool's arguments; branches such as `anyOf` count as one.

    `kind_bits`: the cost of naming each kind. `choices`: keys of the values of an enum. `default` is
    None where none is declared, else a tuple of it. `described`: words of the description, which often
    lists what can be chosen. `additional`: of undeclared keys, None where nothing is declared.
    """

    kind_bits: Mapping[str, float]
    choices: frozenset[Key]
    default: tuple[Any] | None
    described: frozenset[str]
    properties: Mapping[str, Any]
    required: frozenset[str]
    items: Any
    additional: Mapping[str, Any] | None

    def expect_time(self) -> "ArgumentSchema":
        """Return the place with a larger share for a time, if it has one at all."""
        time_share = 2.0 ** -self.kind_bits["time"]
        if time_share < _MIN_TIME_SHARE:
            return self
        rest = 1 - _SECOND_TIME_SHARE
        kind_bits = {kind: bits - log2(rest) for kind, bits in self.kind_bits.items()}
        kind_bits["time"] = -log2(time_share * rest + _SECOND_TIME_SHARE)
        return replace(self, kind_bits=kind_bits)

    def measure_described(self, text: str) -> float:
        """Return the cost of a word of the description; inf for any other text."""
        return log2(len(self.described)) if text in self.described else inf


def read_schema(schema: Any, root: Any) -> ArgumentSchema:
    """Read one place of a schema; local references are looked up in `root`. Never raises."""
    branches = _list_branches(schema, root)
    properties: dict[str, Any] = {}
    for branch in branches:
        for name, part in _get_mapping(branch, "properties").items():
            properties.setdefault(name, part)
    choices = frozenset(filter(None, map(build_choice_key, _list_choices(branches))))
    defaults = [(branch["default"],) for branch in branches if "default" in branch]
    return ArgumentSchema(
        kind_bits=_compute_kind_bits(
            _list_types(branches), has_choices=bool(choices), has_default=bool(defaults)
        ),
        choices=choices,
        default=defaults[0] if defaults else None,
        described=frozenset(chain.from_iterable(map(_list_described, branches))),
        properties=properties,
        required=frozenset(filter(_is_text, _get_list(branches[0], "required"))),
        items=next((branch["items"] for branch in branches if "items" in branch), {}),
        additional=next(
            filter(None, (_get_mapping(branch, "additionalProperties") for branch in branches)),
            None,
        ),
    )


def build_choice_key(choice: Any) -> Key | None:
    """Build a key that is equal for values that are sent alike; None for lists, objects and NaN."""
    if isinstance(choice, bool) or choice is None:
        return "constant", choice
    if isinstance(choice, int | float):
        number = normalize_number(choice)
        return None if number != number else (type(number).__name__, number)  # noqa: PLR0124 - NaN
    return ("text", choice) if isinstance(choice, str) else None


def normalize_number(number: float) -> float:
    """Write a whole number as an integer, up to the size at which a float is no longer exact."""
    if isinstance(number, int):
        return number
    is_whole = number.is_integer() and abs(number) < _MAX_EXACT_INTEGER
    return int(number) if is_whole else number


def _list_branches(schema: Any, root: Any) -> list[Mapping[str, Any]]:
    """List a schema and its alternatives, nearest first, as far as bounds allow."""
    branches: list[Mapping[str, Any]] = []
    parts = [schema]
    while parts and len(branches) < _MAX_BRANCHES:
        part = parts.pop(0)
        if not isinstance(part, Mapping):
            continue
        branches.append(part)
        parts += [_resolve(part["$ref"], root)] if "$ref" in part else []
        for keyword in ("allOf", "anyOf", "oneOf"):
            parts += _get_list(part, keyword)[:_MAX_BRANCHES]
    return branches or [{}]


def _resolve(reference: Any, root: Any) -> Any:
    node = root
    for name in str(reference).removeprefix("#").split("/")[1:]:
        node = node.get(name) if isinstance(node, Mapping) else None
    return node


def _get_mapping(branch: Mapping[str, Any], keyword: str) -> Mapping[str, Any]:
    part = branch.get(keyword)
    return part if isinstance(part, Mapping) else {}


def _get_list(branch: Mapping[str, Any], keyword: str) -> Sequence[Any]:
    part = branch.get(keyword)
    return part if isinstance(part, list | tuple) else []


def _is_text(name: Any) -> bool:
    return isinstance(name, str)


def _list_choices(branches: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
    for branch in branches:
        yield from _get_list(branch, "enum")
        if "const" in branch:
            yield branch["const"]


def _list_described(branch: Mapping[str, Any]) -> Iterator[str]:
    description = branch.get("description")
    if isinstance(description, str):
        yield from chain.from_iterable(p.findall(description) for p in _DESCRIBED)


def _list_types(branches: Sequence[Mapping[str, Any]]) -> set[str]:
    """List the rows of SHARES that a value here may have; "any" where nothing is declared."""
    types: set[str] = set()
    for branch in branches:
        declared = branch.get("type")
        names = {name for name in [declared, *_get_list(branch, "type")] if _is_text(name)}
        if "integer" in names:
            names = names - {"integer"} | {"number"}
        if "string" in names and _expects_time(branch):
            names = names - {"string"} | {"time"}
        if not names:
            names = {"object"} if "properties" in branch else set()
        types |= names & SHARES.keys()
    return types or {"any"}


def _expects_time(branch: Mapping[str, Any]) -> bool:
    description = branch.get("description")
    is_described = isinstance(description, str) and _TIME_PATTERN.search(description) is not None
    return is_described or branch.get("format") in ("date", "date-time")


def _compute_kind_bits(
    types: Collection[str], *, has_choices: bool, has_default: bool
) -> Mapping[str, float]:
    shares = dict.fromkeys(KINDS, _UNEXPECTED_SHARE / len(KINDS))
    weights = {name: _NULL_WEIGHT if name == "null" else 1.0 for name in types}
    for name, weight in weights.items():
        portion = weight / sum(weights.values()) * (1 - _UNEXPECTED_SHARE)
        for kind, share in SHARES[name].items():
            shares[kind] += portion * share
    if has_default:
        shares = {kind: share * (1 - _DEFAULT_SHARE) for kind, share in shares.items()}
        shares["default"] = _DEFAULT_SHARE
    if has_choices:
        shares = {kind: share * (1 - _CHOICE_SHARE) for kind, share in shares.items()}
        shares["choice"] = _CHOICE_SHARE
    return {kind: -log2(share) for kind, share in shares.items()}
