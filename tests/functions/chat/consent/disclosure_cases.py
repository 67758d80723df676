"""Cases of disclosure: known texts, and strategies for JSON arguments and schemas."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from functions.chat.consent.disclosure import Disclosure, measure_disclosure
from functions.chat.consent.known_text import KnownText

NOW = datetime(2026, 11, 22, 15, 30, tzinfo=ZoneInfo("Europe/Berlin"))
QUESTION = "What will the weather be in Berlin tomorrow?"
ANYTHING: Mapping[str, Any] = {"type": "object"}
LIMIT = float("inf")


def build_known(message: str = QUESTION, returned: Sequence[str] = ()) -> KnownText:
    return KnownText(message=message, returned=returned, now=NOW)


def declare(*required: str, **properties: Any) -> Mapping[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def measure(
    arguments: Mapping[str, Any],
    schema: Any = ANYTHING,
    known: KnownText | None = None,
    *,
    tools: int = 1,
    limit: float = LIMIT,
) -> Disclosure:
    return measure_disclosure(arguments, schema, known or build_known(), tools=tools, limit=limit)


_SIGNS = "aAbBé 1-.,\n\t가😀\u0301\u1100\u1161ß\ud800Σİ٣"
texts = (
    st.sampled_from(["", "Berlin", "berlin", "the weather", "2026-11-23", "2026-11-23T15:00:00"])
    | st.text(_SIGNS, max_size=5)
    | st.text(max_size=8)
)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 9)
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    scalars,
    lambda part: st.lists(part, max_size=4) | st.dictionaries(texts, part, max_size=3),
    max_leaves=10,
)
keys = st.sampled_from(["a", "b", "city", "é"]) | texts
calls = st.dictionaries(keys, values, max_size=4)

_leaf_schemas = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            [
                "string",
                "number",
                "integer",
                "boolean",
                "array",
                "object",
                "null",
                ["string", "null"],
                7,
            ]
        ),
        "enum": st.lists(scalars, max_size=3),
        "const": scalars,
        "default": values,
        "format": st.sampled_from(["date", "date-time", "uri"]),
    },
)


def _nest(part: Any) -> Any:
    objects = st.fixed_dictionaries(
        {"properties": st.dictionaries(keys, part, max_size=3)},
        optional={
            "type": st.just("object"),
            "required": st.lists(keys, max_size=2),
            "additionalProperties": st.booleans() | part,
            "default": values,
        },
    )
    arrays = st.fixed_dictionaries({"type": st.just("array"), "items": part})
    unions = st.fixed_dictionaries({"anyOf": st.lists(part, max_size=3)})
    return objects | arrays | unions


schemas = st.recursive(
    _leaf_schemas | st.booleans() | st.just({"$ref": "#/properties/a"}), _nest, max_leaves=5
)
