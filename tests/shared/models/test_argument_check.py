"""Schema validation of arguments: what it reports, and how much work strangers can make of it."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from functions.tool_proxy.registry.parameters import InvalidTool, SchemaBudget, parse_parameters
from shared.models.argument_check import validate_arguments
from shared.models.json_schema import MAX_STEPS, TooManySteps, find_violation
from shared.models.schemas import read_parameters

TOO_MANY = "they have more values than can be checked; send fewer"
MAX_CALLS_A_STEP = 60
"""Calls of functions, in Python and C, that a step of validation makes at most."""


@pytest.mark.anyio
async def test_an_invalid_argument_is_reported_with_its_json_path_t5():
    schema = {"properties": {"day": {"properties": {"name": {"enum": ["mon"]}}}}}

    assert (
        await validate_arguments(schema, {"day": {"name": "sun"}})
        == "$.day.name: 'sun' is not one of ['mon']"
    )


@pytest.mark.anyio
@pytest.mark.parametrize(
    "field",
    [
        {"pattern": "^(a+)+$"},
        {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(a+)+$"},
        {"items": {"$schema": "http://json-schema.org/draft-04/schema", "pattern": "^(a+)+$"}},
        {"$id": "http://json-schema.org/draft-07/schema#", "pattern": "^(a+)+$"},
    ],
)
async def test_regex_patterns_of_a_schema_are_not_evaluated_s4(field: Any):
    """A part that names another dialect is not read by the rules of that one."""
    schema = read_declaration({"properties": {"a": field}})

    assert await validate_arguments(schema, {"a": "a" * 60 + "!"}) is None
    assert await validate_arguments(schema, {"a": ["a" * 60 + "!"]}) is None


def read_declaration(declaration: Any) -> Mapping[str, Any]:
    """Read parameters as they are declared, stored and then checked."""
    return read_parameters(parse_parameters(declaration, SchemaBudget()))


def build_objects(count: int) -> list[Any]:
    return [{"number": number} for number in range(count)]


HOSTILE: Mapping[str, tuple[Any, Any]] = {
    "unique objects": ({"uniqueItems": True}, build_objects(9_000)),
    "many alternatives": ({"items": {"anyOf": [{"const": n} for n in range(300)]}}, [3] * 5_000),
    "one of many": ({"items": {"oneOf": [{}] * 900}}, [1] * 900),
    "a long enum": ({"items": {"enum": list(range(900))}}, [899] * 5_000),
    "an enum of lists": (
        {"items": {"enum": [[*range(150), n] for n in range(10)]}},
        [[*range(150), 11]] * 500,
    ),
    "contained in nothing": ({"allOf": [{"contains": {"const": 2}}] * 200}, [1] * 5_000),
    "nots": ({"items": {"not": {"not": {"not": {"type": "integer"}}}}}, [3] * 9_000),
    "long messages": ({"anyOf": [{"type": "integer"}] * 600}, "x" * 200_000),
    "names": ({"propertyNames": {"maxLength": 9}}, {str(n): n for n in range(20_000)}),
    "items of any kind": ({"items": {}}, [1] * 200_000),
}


@pytest.mark.parametrize(("field", "argument"), HOSTILE.values(), ids=HOSTILE)
def test_the_work_of_a_hostile_schema_is_bounded_s4(field: Any, argument: Any):
    schema = read_declaration({"properties": {"a": field}})
    find_violation(schema, {"a": None})

    calls = count_calls(lambda: find_any_violation(schema, {"a": argument}))

    assert calls < MAX_CALLS_A_STEP * MAX_STEPS


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["many alternatives", "one of many", "an enum of lists", "nots"])
async def test_arguments_that_take_too_many_steps_are_refused_s4(name: str):
    field, argument = HOSTILE[name]
    schema = read_declaration({"properties": {"a": field}})

    assert await validate_arguments(schema, {"a": argument}) == TOO_MANY


@pytest.mark.anyio
async def test_a_thousand_objects_are_checked_s4():
    fields = {"name": {"type": "string", "maxLength": 40}, "price": {"type": "number"}}
    items = {"type": "object", "required": ["name"], "properties": fields}
    schema = {"properties": {"rows": {"type": "array", "items": items}}}
    rows = [{"name": "tea", "price": 2}] * 700

    assert await validate_arguments(schema, {"rows": rows}) is None
    assert await validate_arguments(schema, {"rows": [*rows, {"price": 3}]}) == (
        "$.rows[700]: 'name' is a required property"
    )


def find_any_violation(schema: Any, content: Any) -> None:
    try:
        find_violation(schema, content)
    except TooManySteps:
        return


def count_calls(work: Callable[[], object]) -> int:
    """Count the calls of functions that work makes: the same on every machine."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text("ab")
contents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab"), inner, max_size=4),
    max_leaves=12,
)
names = st.sampled_from(["array", "object", "string", "integer", "number", "boolean", "null"])
schemas = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": names | st.lists(names, min_size=1, max_size=2, unique=True),
            "enum": st.lists(contents, max_size=3),
            "const": contents,
            "minimum": st.integers(-2, 2),
            "maxLength": st.integers(0, 2),
            "uniqueItems": st.booleans(),
            "required": st.lists(st.text("ab", max_size=2), max_size=2, unique=True),
            "minItems": st.integers(0, 2),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "items": inner,
            "contains": inner,
            "properties": st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
            "additionalProperties": inner | st.booleans(),
            "propertyNames": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "oneOf": st.lists(inner, min_size=1, max_size=3),
            "allOf": st.lists(inner, min_size=1, max_size=3),
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "uniqueItems": st.booleans(),
        },
    ),
    max_leaves=8,
)


@given(schemas, contents)
def test_the_bounded_validation_agrees_with_the_librarys_s4(schema: Any, content: Any):
    assert (find_violation(schema, content) is None) == Draft202012Validator(schema).is_valid(
        content
    )


HOSTILE_DECLARATIONS: Mapping[str, Any] = {
    "required objects": {"required": [{}] * 900},
    "types": {"properties": {f"{n}": {"type": 3, "required": 3, "anyOf": 3} for n in range(250)}},
    "alternatives": {"anyOf": [{}] * 1_800},
    "empty properties": {"properties": {f"{n}": {} for n in range(900)}},
    "typed objects": {"type": "object", "items": {"type": [{}] * 900}},
}


@pytest.mark.parametrize("declaration", HOSTILE_DECLARATIONS.values(), ids=HOSTILE_DECLARATIONS)
def test_the_work_of_reading_a_schema_is_bounded_s4(declaration: Any):
    """A declaration of 16 KB takes at most as much as one of its size that is as it should be."""
    calls = count_calls(lambda: parse_any_parameters(declaration))

    assert calls < 2_000_000


def parse_any_parameters(declaration: Any) -> None:
    try:
        read_declaration(declaration)
    except InvalidTool:
        return
