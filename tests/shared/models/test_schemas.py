"""Schemas as servers take them, checked against what OpenAI documents, and against their meaning (N3)."""

import importlib
import json
import pkgutil
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel

import functions.chat.tools
import shared.integrations
from functions.chat.corrections.safe_answer import SafeAnswerOutput
from functions.chat.notes.model_outputs import (
    FirstNotesOutput,
    NotesOutput,
    ResultSummariesOutput,
    SummaryOutput,
)
from functions.chat.stretches.model_outputs import StretchOutput
from functions.library.goals.goal_advice import AdviceOutput, SuggestionOutput
from functions.process_conversation.days.day_output import DayOutput
from functions.process_conversation.processing.model_outputs import (
    ExtractionOutput,
    StructureOutput,
    TemplateOutput,
)
from shared.arguments import Arguments, build_tool_spec
from shared.domain.models.model import ToolSpec
from shared.models.schema_repair import repair_parameters
from shared.models.schemas import hash_declaration, normalise_answer_schema, normalise_tool
from shared.reading.reading_output import ReadingOutput

STRUCTURE = {"type", "description", "properties", "required", "items", "enum", "anyOf"}
TOOL_KEYWORDS = STRUCTURE | {"minimum", "maximum", "default", "additionalProperties"}
TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}
ANSWER_KEYWORDS = STRUCTURE | {
    *("additionalProperties", "pattern", "format", "minItems", "maxItems"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
ANSWERS: list[type[BaseModel]] = [
    *(NotesOutput, FirstNotesOutput, ReadingOutput, SafeAnswerOutput),
    *(StretchOutput, SummaryOutput, ResultSummariesOutput, AdviceOutput, SuggestionOutput),
    *(ExtractionOutput, StructureOutput, TemplateOutput, DayOutput),
]


def build_spec(parameters: Any, description: str = "Does it.") -> ToolSpec:
    return ToolSpec(name="tool", description=description, parameters=parameters)


def send(parameters: Any, *, plain: bool = False) -> Any:
    return normalise_tool(build_spec(parameters), plain=plain).parameters


def send_property(declared: Any, *, required: bool = False) -> Any:
    names = ["x"] if required else []
    return send({"properties": {"x": declared}, "required": names})["properties"]["x"]


def list_parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    nested = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    nested += [
        schema[keyword] for keyword in ("items", "additionalProperties") if keyword in schema
    ]
    for part in nested:
        if isinstance(part, dict):
            yield from list_parts(part)


def measure_depth(schema: dict[str, Any]) -> int:
    parts = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    parts += [schema["items"]] if "items" in schema else []
    return 1 + max(map(measure_depth, parts), default=0)


def check_part(part: dict[str, Any]) -> None:
    assert part.get("type", "string") in TYPES
    assert part.get("type") != "array" or "type" in part["items"] or "anyOf" in part["items"]
    assert len(part.get("description", "")) <= 1_000
    assert set(part.get("required", ())) <= part.get("properties", {}).keys()
    assert len(part.get("anyOf", ("", ""))) > 1
    choices = part.get("enum", ["x"])
    assert choices
    assert len({json.dumps(choice) for choice in choices}) == len(choices)
    if "enum" in part:
        assert all(Draft202012Validator({"type": part["type"]}).is_valid(one) for one in choices)


def check_tool(spec: ToolSpec, *, plain: bool = False) -> None:
    """Hold a tool against https://platform.openai.com/docs/guides/function-calling (2025-11)."""
    assert len(spec.description) <= 1_000
    schema = dict(spec.parameters)
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert not schema.keys() & {"anyOf", "oneOf", "allOf", "enum", "not"}
    assert isinstance(schema["properties"], dict)
    for part in list_parts(schema):
        assert part.keys() <= (STRUCTURE | {"additionalProperties"} if plain else TOOL_KEYWORDS)
        check_part(part)
    assert measure_depth(schema) <= 12
    assert sum(1 for _ in list_parts(schema)) <= 1_100


NAMES = st.sampled_from(["a", "b", "type", "required", "properties", "title", "ä b"])
TYPE_NAMES = st.sampled_from(
    [
        "string",
        "float",
        "date",
        "int",
        "OBJECT",
        "array",
        "list",
        "null",
        "any",
        "whatever",
        "boolean",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text("ab\n", max_size=3)
JSON = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(NAMES, SCALARS, max_size=2)
ODD_JSON = JSON | st.dictionaries(NAMES, JSON, max_size=2)
KEYWORDS: dict[str, st.SearchStrategy[Any]] = {
    "type": TYPE_NAMES | st.lists(TYPE_NAMES, max_size=3) | JSON,
    "required": st.lists(NAMES, max_size=3) | st.booleans() | JSON,
    "enum": st.lists(SCALARS, max_size=4) | JSON,
    "const": JSON,
    "$ref": st.sampled_from(["#", "#/$defs/a", "#/properties/a", "https://else.where/", "#/x"]),
    "description": st.text(max_size=5) | st.just("long " * 400) | JSON,
    "default": JSON,
    "nullable": st.booleans(),
    "maxLength": st.integers(-1, 5_000) | JSON,
    "minimum": st.integers() | JSON,
    "exclusiveMinimum": st.booleans() | st.integers(),
    "pattern": st.just("^(a+)+$"),
    "format": st.sampled_from(["date-time", "uri", "x\ny"]) | JSON,
    "x-order": JSON,
    **dict.fromkeys(("properties", "items", "allOf", "not", "anyOf"), ODD_JSON),
}


def declare(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Build declarations as strangers write them, right and wrong."""
    lists = st.lists(inner, max_size=2)
    named = st.dictionaries(NAMES, inner, max_size=3)
    nested = {
        **dict.fromkeys(("properties", "patternProperties", "$defs"), named),
        **dict.fromkeys(("prefixItems", "anyOf", "oneOf", "allOf"), lists),
        **dict.fromkeys(("not", "if", "then", "additionalProperties"), inner),
        "items": inner | lists,
    }
    pairs = st.sampled_from([*KEYWORDS.items(), *nested.items(), *nested.items()]).flatmap(
        lambda pair: st.tuples(st.just(pair[0]), pair[1])
    )
    return st.lists(pairs, min_size=1, max_size=6).map(dict)


DECLARATIONS = st.recursive(declare(st.booleans()) | JSON, declare, max_leaves=8)


@given(DECLARATIONS, st.booleans())
def test_any_declaration_becomes_a_tool_that_servers_take_n3(declared: Any, plain: bool) -> None:  # noqa: FBT001 - drawn
    before = deepcopy(declared)

    sent = normalise_tool(build_spec(declared), plain=plain)

    check_tool(sent, plain=plain)
    assert json.dumps(declared) == json.dumps(before)
    assert json.dumps(normalise_tool(sent, plain=plain).parameters) == json.dumps(sent.parameters)


@given(DECLARATIONS)
def test_any_declaration_is_repaired_to_a_schema_that_validates(declared: Any) -> None:
    repaired = repair_parameters(declared)

    Draft202012Validator.check_schema(repaired)
    assert "$ref" not in json.dumps(repaired)
    assert repair_parameters(repaired) == repaired


VALUES_BY_TYPE = {
    "string": st.text(max_size=4),
    "integer": st.integers(-9, 9),
    "number": st.integers(-9, 9) | st.floats(-9, 9),
    "boolean": st.booleans(),
    "null": st.none(),
}


KINDS = st.sampled_from(["scalar", "types", "enum", "const"])
NESTED_KINDS = KINDS | st.sampled_from(["object", "array", "tuple", "union", "all"])
VALID_TYPES = st.sampled_from([*VALUES_BY_TYPE])
CHOICES = st.lists(st.text(max_size=2) | st.integers() | st.none(), min_size=1, max_size=5)


@st.composite
def build_pairs(draw: st.DrawFn, depth: int = 2) -> tuple[dict[str, Any], Any]:  # noqa: PLR0911 - one for each kind
    """Build a valid schema, and a value that it takes."""
    kind = draw(NESTED_KINDS if depth else KINDS)
    name = draw(VALID_TYPES)
    if kind == "scalar":
        return {"type": name, "maxLength": 4, "minimum": -9}, draw(VALUES_BY_TYPE[name])
    if kind == "types":
        return {"type": sorted({name, "null"})}, draw(VALUES_BY_TYPE[name] | st.none())
    if kind in ("enum", "const"):
        choices = draw(CHOICES)
        choice = choices[0] if kind == "const" else draw(st.sampled_from(choices))
        return {"const": choice} if kind == "const" else {"enum": choices}, choice
    if kind == "object":
        return draw(build_objects(depth))
    schema, content = draw(build_pairs(depth - 1))
    other, _ = draw(build_pairs(depth - 1))
    if kind == "array":
        return {"type": "array", "items": schema}, [content] * draw(st.integers(0, 2))
    if kind == "tuple":
        return {"type": "array", "prefixItems": [schema, other]}, [content]
    if kind == "union":
        return {"anyOf": [other, schema], "description": "one of them"}, content
    return {"allOf": [schema, {"description": "both"}]}, content


@st.composite
def build_objects(draw: st.DrawFn, depth: int = 3) -> tuple[dict[str, Any], Any]:
    """Build an object, perhaps with alternatives; what is optional is never null."""
    members = draw(st.dictionaries(NAMES, build_pairs(depth - 1), max_size=3))
    names = st.lists(st.sampled_from([*members]), unique=True) if members else st.just([])
    required, present = draw(names), draw(names)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: pair[0] for name, pair in members.items()},
        "required": required,
    }
    if len(required) > 1 and draw(st.booleans()):
        schema |= {"required": required[1:], "anyOf": [{"required": [name]} for name in required]}
    return schema, {
        name: content
        for name, (_, content) in members.items()
        if name in schema["required"] or (name in present and content is not None)
    }


@given(build_objects(), st.booleans())
def test_arguments_that_are_declared_fit_what_is_sent(
    pair: tuple[dict[str, Any], Any],
    plain: bool,  # noqa: FBT001 - drawn
) -> None:
    declared, arguments = pair
    Draft202012Validator(declared).validate(arguments)

    Draft202012Validator(repair_parameters(declared)).validate(arguments)
    Draft202012Validator(send(declared, plain=plain)).validate(arguments)


@given(build_objects(), JSON)
def test_a_valid_schema_means_the_same_once_it_is_repaired(
    pair: tuple[dict[str, Any], Any], arguments: Any
) -> None:
    declared, _ = pair

    repaired = Draft202012Validator(repair_parameters(declared))
    assert repaired.is_valid(arguments) == Draft202012Validator(declared).is_valid(arguments)


@pytest.mark.parametrize(
    ("declared", "sent"),
    [
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        ({"type": "array", "items": {}}, {"type": "array", "items": {"type": "string"}}),
        ({"type": "list", "items": True}, {"type": "array", "items": {"type": "string"}}),
        (
            {"type": "array", "items": [{"type": "string"}]},
            {"type": "array", "items": {"type": "string"}},
        ),
        (
            {"type": "array", "prefixItems": [{"type": "int"}, {"type": "integer"}]},
            {"type": "array", "items": {"type": "integer"}},
        ),
        ({"type": "array", "items": {"type": "array"}}, None),
        ({"type": "float"}, {"type": "number"}),
        ({"type": "date"}, {"type": "string"}),
        ({"type": "Datetime"}, {"type": "string"}),
        ({"type": "STRING"}, {"type": "string"}),
        ({"type": "dict"}, {"type": "object"}),
        ({"type": "whatever"}, {"type": "string"}),
        ({"type": ["string", "null"]}, {"type": "string"}),
        ({"type": "string", "nullable": True}, {"type": "string"}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}, {"type": "string"}),
        ({"type": ["integer", "number"]}, {"type": "number"}),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"enum": ["a", "b", "a"]}, {"type": "string", "enum": ["a", "b"]}),
        ({"type": "string", "enum": []}, {"type": "string"}),
        ({"type": "string", "enum": [1, 2]}, {"type": "integer", "enum": [1, 2]}),
        ({"type": "string", "enum": ["a", None]}, {"type": "string", "enum": ["a"]}),
        ({"oneOf": [{"const": 1}, {"const": 2}]}, {"type": "integer", "enum": [1, 2]}),
        (
            {"oneOf": [{"type": "string"}, {"type": "boolean"}], "not": {"const": "a"}},
            {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
        ),
        ({"type": "string", "anyOf": [{"minLength": 1}, {"pattern": "a"}]}, {"type": "string"}),
        ({"type": "string", "maxLength": 2_000, "pattern": "^a", "x": 1}, {"type": "string"}),
        (
            {"type": "string", "format": "date-time"},
            {"type": "string", "description": "Format: date-time"},
        ),
        (
            {"type": "integer", "minimum": 1, "default": 3},
            {"type": "integer", "minimum": 1, "default": 3},
        ),
        ({"type": "integer", "default": "3"}, {"type": "integer"}),
        (
            {"properties": {"a": {"type": "int", "required": True}}},
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        ),
        (
            {"allOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}]},
            {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]},
        ),
        ({"type": "object", "additionalProperties": {"type": "int"}}, None),
        (True, {}),
        ("string", {}),
    ],
)
def test_a_declaration_is_sent_as_what_it_means(declared: Any, sent: Any) -> None:
    written = send_property(declared)

    check_tool(normalise_tool(build_spec({"properties": {"x": declared}})))
    assert sent is None or written == sent


def test_alternatives_at_the_root_become_one_object() -> None:
    by_id = {
        "properties": {"kind": {"const": "id"}, "id": {"type": "int"}},
        "required": ["kind", "id"],
    }
    by_name = {
        "properties": {"kind": {"const": "name"}, "name": {"type": "string"}},
        "required": ["kind"],
    }

    for keyword in ("anyOf", "oneOf"):
        assert send({"type": "object", keyword: [by_id, {"allOf": [by_name]}]}) == {
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": ["id", "name"]},
                "id": {"type": "integer"},
                "name": {"type": "string"},
            },
            "required": ["kind"],
        }


def test_references_are_written_out_and_recursive_ones_are_any_object() -> None:
    node = {"properties": {"label": {"type": "str"}, "next": {"$ref": "#/definitions/No~1de"}}}
    declared = {
        "definitions": {"No/de": node},
        "properties": {"x": {"$ref": "#/definitions/No~1de"}},
    }

    assert send(declared)["properties"]["x"] == {
        "type": "object",
        "properties": {"label": {"type": "string"}, "next": {"type": "object"}},
    }


def test_what_is_required_may_be_null_where_null_is_declared() -> None:
    written = send_property({"type": ["string", "null"], "description": "Or null."}, required=True)

    assert written == {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "Or null."}


def test_names_that_nobody_describes_are_not_required() -> None:
    declared = {
        "properties": {"a": {"type": "string"}},
        "required": ["a", "ghost"],
        "allOf": [{"required": ["a", "ghost"]}],
    }

    assert send(declared)["required"] == ["a"]
    assert Draft202012Validator(repair_parameters(declared)).is_valid({"a": ""})


def test_plain_tools_bound_no_value() -> None:
    declared = {"properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9, "default": 2}}}

    assert send(declared, plain=True)["properties"]["n"] == {"type": "integer"}


def test_a_declaration_without_end_is_cut() -> None:
    nested: Any = {"type": "string"}
    for _ in range(900):
        nested = {"type": "object", "properties": {"a": nested}}
    wide = {"properties": {f"n{n}": {"enum": [str(n)] * 9} for n in range(9_000)}}
    doubling = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}

    for declared in (
        nested,
        wide,
        {"$defs": doubling, "properties": {"x": {"$ref": "#/$defs/d0"}}},
    ):
        check_tool(normalise_tool(build_spec(declared)))


def test_a_description_is_cut_to_what_openai_takes() -> None:
    sent = normalise_tool(
        build_spec({"properties": {"a": {"description": "b" * 5_000}}}, "c" * 5_000)
    )

    assert sent.description == "c" * 1_000
    assert sent.parameters["properties"]["a"]["description"] == "b" * 1_000


def list_own_tools() -> list[ToolSpec]:
    for package in (functions.chat.tools, shared.integrations):
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
    types = [Arguments]
    for arguments_type in types:
        types += arguments_type.__subclasses__()
    described = [one for one in types[1:] if one.__doc__ and not one.__name__.startswith("_")]
    return [build_tool_spec(one.__name__, one) for one in described]


@pytest.mark.parametrize("spec", list_own_tools(), ids=lambda spec: spec.name)
def test_our_own_tools_keep_their_meaning(spec: ToolSpec) -> None:
    for plain in (False, True):
        sent = normalise_tool(spec, plain=plain)

        check_tool(sent, plain=plain)
        assert sent.description == spec.description
        assert sent.parameters["properties"].keys() == spec.parameters["properties"].keys()
        assert sent.parameters.get("required", []) == spec.parameters.get("required", [])
        for name, part in spec.parameters["properties"].items():
            sent_part = sent.parameters["properties"][name]
            assert sent_part["type"] in json.dumps(part)
            assert sent_part.get("enum") == part.get("enum", sent_part.get("enum"))


def check_answer(part: dict[str, Any], keywords: set[str]) -> None:
    """Hold a part against https://platform.openai.com/docs/guides/structured-outputs (2025-11)."""
    assert part.keys() <= keywords
    assert "type" in part or "anyOf" in part
    check_part(part)
    if part.get("type") == "object":
        assert part["required"] == [*part["properties"]]
        assert part["additionalProperties"] is False


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_are_asked_for_as_strict_mode_takes_them(answer: type[BaseModel]) -> None:
    declared = answer.model_json_schema()
    for plain in (False, True):
        sent = normalise_answer_schema(declared, plain=plain)

        Draft202012Validator.check_schema(sent)
        assert sent["type"] == "object"
        for part in list_parts(sent):
            check_answer(part, STRUCTURE | {"additionalProperties"} if plain else ANSWER_KEYWORDS)
        assert normalise_answer_schema(sent, plain=plain) == sent


def complete(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    """Build an answer with all fields, of the first alternative in each place."""
    if "$ref" in schema:
        return complete(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "anyOf" in schema:
        return complete(schema["anyOf"][0], root)
    if "enum" in schema:
        return schema["enum"][-1]
    match schema["type"]:
        case "object":
            return {name: complete(part, root) for name, part in schema["properties"].items()}
        case "array":
            return [complete(schema["items"], root)]
    return {"string": "text", "boolean": True, "integer": 1, "number": 0.5}[schema["type"]]


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_whole_answer_fits_what_is_asked_for(answer: type[BaseModel]) -> None:
    declared = answer.model_json_schema()
    content = complete(declared, declared)

    for plain in (False, True):
        Draft202012Validator(normalise_answer_schema(declared, plain=plain)).validate(content)


def test_fields_may_have_the_names_of_keywords() -> None:
    names = ("title", "default", "$defs", "not", "$ref")
    properties = {name: {"type": "string", "title": "T"} for name in names}

    sent = normalise_answer_schema({"type": "object", "properties": properties})

    assert sent["required"] == [*names]
    assert send({"properties": properties})["properties"] == {
        name: {"type": "string"} for name in names
    }


def test_a_declaration_is_known_again_by_its_hash() -> None:
    spec = build_spec({"type": "object", "properties": {}})

    assert hash_declaration(spec) == hash_declaration(build_spec({**spec.parameters}))
    assert hash_declaration(spec) != hash_declaration(build_spec(spec.parameters, "Does more."))
    assert hash_declaration(spec) != hash_declaration(build_spec({"type": "object"}))
