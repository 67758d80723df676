"""Requests of our adapter, against a server that refuses all that OpenAI documents as refused."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import anyio
import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from shared.adapters.cloud.openai_model import OpenaiModel
from shared.domain.errors import ModelFailed
from shared.domain.models.model import Prompt, ToolSpec
from shared.domain.provenance import Source
from shared.environment.model_readers import DEFAULT_MODELS
from tests.servers.openai import IN_WORDS, Script, ScriptedCall
from tests.servers.quirky_openai import ANSWER, ARGUMENTS, ARGUMENTS_JSON, SEARCH
from tests.servers.strict_openai import RULES, StrictOpenai, find_problem, strict_openai
from tests.shared.models.turns import SEARCH_TOOL, SENT, Outcome, ask_chat, open_model

MODELS = (
    "gpt-4o",
    "gpt-4.1",
    "gpt-5",
    "gpt-5.1",
    "o3",
    "o4-mini",
    *sorted({*DEFAULT_MODELS.values()}),
)


@pytest.fixture(scope="module")
def strict_server() -> Iterator[StrictOpenai]:
    with strict_openai(Script(text=ANSWER)) as server:
        yield server


@pytest.fixture
def server(strict_server: StrictOpenai) -> StrictOpenai:
    strict_server.scripted.reset()
    strict_server.refusals.clear()
    strict_server.bodies.clear()
    return strict_server


HELLO = {"role": "user", "content": "Hello"}
CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "Nothing."}


def _with_tool(parameters: Any, **fields: Any) -> dict[str, Any]:
    function = {"name": "look", "description": "Look.", "parameters": parameters, **fields}
    return {"tools": [{"type": "function", "function": function}]}


def _with_property(declared: Any) -> dict[str, Any]:
    return _with_tool({"type": "object", "properties": {"x": declared}})


def _with_answer(schema: Any, name: str = "title") -> dict[str, Any]:
    described = {"name": name, "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": described}}


def _with_answer_field(declared: Any) -> dict[str, Any]:
    return _with_answer(
        {
            "type": "object",
            "properties": {"x": declared},
            "required": ["x"],
            "additionalProperties": False,
        }
    )


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
REFUSED: Sequence[tuple[str, Mapping[str, Any], str]] = (
    ("unknown-parameter", {"min_p": 0.1}, "Unknown parameter: 'min_p'."),
    ("unknown-parameter", {"id_slot": 1}, "Unknown parameter"),
    ("empty-list", {"messages": []}, "Invalid 'messages': empty array"),
    ("empty-list", {"tools": []}, "Invalid 'tools': empty array"),
    ("role", {"messages": [{"role": "owner", "content": "Hi"}]}, "Invalid value: 'owner'"),
    (
        "role",
        {"model": "o1-mini", "messages": [{"role": "system", "content": "Hi"}, HELLO]},
        "does not support 'system' with this model",
    ),
    ("unknown-field", {"messages": [{**HELLO, "reasoning_content": ""}]}, "messages[0].reasoning"),
    ("content", {"messages": [{"role": "user", "content": None}]}, "expected a string, got null"),
    (
        "content",
        {"model": "gpt-3.5-turbo", "messages": [{"role": "user", "content": [PICTURE]}]},
        "image_url is only supported by certain models",
    ),
    (
        "content",
        {"messages": [HELLO, CALLING, {**RESULT, "content": [PICTURE]}]},
        "Image URLs are only allowed for messages with role 'user'",
    ),
    (
        "call",
        {"messages": [HELLO, {**CALLING, "tool_calls": [{**CALL, "id": "x" * 41}]}]},
        "Expected a string with maximum length 40",
    ),
    (
        "call",
        {"messages": [HELLO, CALLING, {**RESULT, "tool_call_id": "x" * 41}]},
        "messages[2].tool_call_id",
    ),
    ("call", {"messages": [HELLO, {**CALLING, "tool_calls": [{"id": "a"}]}]}, "Missing required"),
    ("call-order", {"messages": [HELLO, RESULT]}, "must be a response to a preceeding message"),
    ("call-order", {"messages": [HELLO, CALLING]}, "did not have response messages: a"),
    ("call-order", {"messages": [HELLO, CALLING, HELLO]}, "must be followed by tool messages"),
    ("bound", {"max_tokens": 5, "max_completion_tokens": 5}, "at the same time"),
    ("bound", {"model": "gpt-5", "max_tokens": 5}, "Use 'max_completion_tokens' instead"),
    ("bound", {"max_tokens": 0}, "Expected a value >= 1"),
    ("bound", {"max_tokens": 99_999}, "is too large"),
    ("reasoning", {"reasoning_effort": "low"}, "Unrecognized request argument"),
    ("reasoning", {"model": "o3", "reasoning_effort": "none"}, "does not support 'none'"),
    ("reasoning", {"model": "o3", "temperature": 0.2}, "Only the default (1) value is supported"),
    ("combination", {"stream_options": {"include_usage": True}}, "only allowed when 'stream'"),
    ("combination", {"tool_choice": "auto"}, "only allowed when 'tools' are specified"),
    ("combination", {"parallel_tool_calls": False}, "only allowed when 'tools' are specified"),
    ("combination", {"model": "o1-mini", **_with_property({"type": "string"})}, "'tools' is not"),
    ("tool", _with_property({"type": "array"}), "array schema missing items"),
    ("tool", _with_property({"type": ["string", "array"]}), "('properties', 'x', 'type', '1')"),
    (
        "tool",
        _with_property({"type": "object", "properties": {"y": {"items": {"type": "array"}}}}),
        "array schema missing items",
    ),
    ("tool", _with_tool({"type": "object"}), "object schema missing properties"),
    ("tool", _with_tool({"type": "string"}), "got 'type: \"string\"'"),
    ("tool", _with_tool({"properties": {}}), "got 'type: \"None\"'"),
    *(
        ("tool", _with_tool({"type": "object", "properties": {}, union: value}), "at the top level")
        for union, value in (
            ("anyOf", [{}]),
            ("oneOf", [{}]),
            ("allOf", [{}]),
            ("not", {}),
            ("enum", [1]),
        )
    ),
    ("tool", _with_property({"type": "float"}), "'float' is not valid under any"),
    ("tool", _with_property({"type": "string", "required": True}), "True is not of type 'array'"),
    ("tool", _with_property({"type": "array", "items": [{"type": "string"}]}), "is not of type"),
    ("tool", _with_tool({"type": "object", "properties": {}}, description="x" * 1_025), "1024"),
    ("tool", _with_tool({"type": "object", "properties": {}}, name="look up"), "does not match"),
    ("tool", _with_tool({"type": "object", "properties": {}}, name="x" * 65), "maximum length 64"),
    ("tool", _with_tool({"type": "object", "properties": {}}, name=""), "empty string"),
    ("tool", {"tools": _with_property({"type": "string"})["tools"] * 129}, "maximum length 128"),
    ("response-format", _with_answer({"type": "array", "items": {}}), "got 'type: \"array\"'"),
    (
        "response-format",
        _with_answer_field({"type": "string"}) | {"model": "gpt-4-turbo"},
        "not supported",
    ),
    ("response-format", _with_answer({"type": "object"}, name="a/b"), "does not match pattern"),
    ("response-format", _with_answer({"type": "object"}, name="x" * 65), "maximum length 64"),
    ("response-format", {"response_format": {"type": "json_object"}}, "the word 'json'"),
    (
        "response-format",
        _with_answer({"type": "object", "properties": {}, "required": []}),
        "'additionalProperties' is required",
    ),
    (
        "response-format",
        _with_answer(
            {
                "type": "object",
                "properties": {"x": {"type": "string"}},
                "additionalProperties": False,
            }
        ),
        "Missing 'x'",
    ),
    *(
        ("response-format", _with_answer_field(declared), problem)
        for declared, problem in (
            ({"type": "string", "minLength": 1}, "'minLength' is not permitted"),
            ({"type": "string", "maxLength": 9}, "'maxLength' is not permitted"),
            ({"type": "string", "default": ""}, "'default' is not permitted"),
            ({"type": "string", "format": "uri"}, "is not a valid format"),
            ({"type": "array", "items": {"type": "string"}, "uniqueItems": True}, "'uniqueItems'"),
            ({"type": "array", "prefixItems": [{"type": "string"}]}, "'prefixItems'"),
            ({"oneOf": [{"type": "string"}]}, "'oneOf' is not permitted"),
            ({"allOf": [{"type": "string"}]}, "'allOf' is not permitted"),
            ({"$ref": "#", "description": "Again."}, "$ref cannot have keywords"),
            ({}, "schema must have a 'type' key"),
            ({"type": "object", "additionalProperties": {"type": "string"}}, "to be false"),
            ({"type": "string", "enum": ["a", 1]}, "enum value 1 does not validate"),
        )
    ),
)


@pytest.mark.parametrize(("rule", "fields", "words"), REFUSED)
def test_the_server_refuses_what_openai_documents_n3(rule, fields, words):
    found = find_problem({"model": "gpt-4.1", "messages": [HELLO], **fields})

    assert found is not None
    assert found[0].id == rule
    assert words in found[1].message


def test_every_rule_has_a_source_and_something_that_it_refuses_n3():
    assert {rule.id for rule in RULES} - {rule for rule, _, _ in REFUSED} == {"length"}
    assert all(rule.source for rule in RULES)


async def test_a_refusal_reads_as_openai_writes_it_n3(server):
    body = {"model": "gpt-4.1", "messages": [HELLO], "min_p": 1}
    async with httpx.AsyncClient() as client:
        response = await client.post(f"{server.url}/chat/completions", json=body)

    assert response.status_code == 400
    assert response.json()["error"] == {
        "message": "Unknown parameter: 'min_p'.",
        "type": "invalid_request_error",
        "param": "min_p",
        "code": "unknown_parameter",
    }


async def _ask(model: OpenaiModel, tools: Sequence[ToolSpec] = ()) -> Outcome:
    return await ask_chat(model, SENT["chat"], [SEARCH_TOOL, *tools])


def _list_other_refusals(server: StrictOpenai) -> list[str | None]:
    """List what was refused but the name of the bound: which one a server takes, its first refusal tells."""
    return [refusal.param for refusal in server.refusals if refusal.param != "max_tokens"]


@pytest.mark.parametrize("name", MODELS)
async def test_nothing_that_we_send_is_refused_n3(server, name):
    server.scripted.play(
        Script(tool_calls=(ScriptedCall(name=SEARCH, arguments=ARGUMENTS_JSON, id="call_1"),)),
        Script(text=ANSWER),
    )
    async with open_model(server.url, name) as model:
        outcome = await _ask(model)

    assert (outcome.text, outcome.calls) == (ANSWER, [ARGUMENTS])
    assert _list_other_refusals(server) == []


@pytest.mark.parametrize("sent", [*SENT])
async def test_each_order_of_messages_is_taken_n3(server, sent):
    async with open_model(server.url, "gpt-4.1") as model:
        outcome = await ask_chat(model, SENT[sent], [SEARCH_TOOL])

    assert outcome.text == ANSWER
    assert len(server.refusals) <= 2 * (sent == "long call id")


async def test_marks_for_the_cache_are_taken_n3(server):
    async with open_model(server.url, "gpt-6-luna", marks_prefixes=True) as model:
        assert (await _ask(model)).text == ANSWER

    assert _list_other_refusals(server) == []
    assert "prompt_cache_options" in server.bodies[-1]


@pytest.mark.parametrize("name", ["gpt-3.5-turbo", "gpt-4-0613", "o3-mini", "o1-mini"])
@pytest.mark.parametrize("sent", ["chat", "earlier picture"])
async def test_older_models_are_learned_n1(server, name, sent):
    async with open_model(server.url, name) as model:
        for _ in range(2):
            refused_count = len(server.refusals)
            outcome = await ask_chat(model, SENT[sent])
            assert outcome.text == ANSWER

    assert len(server.refusals) == refused_count


class Step(BaseModel):
    title: str = Field(default="", max_length=80, min_length=1, description="What to do.")
    minutes: int | None = Field(default=None, ge=1, le=600)


class Circle(BaseModel):
    kind: Literal["circle"] = "circle"
    radius: float = Field(gt=0)


class Square(BaseModel):
    kind: Literal["square"] = "square"
    side: float = Field(gt=0)


class Tree(BaseModel):
    name: str
    children: list["Tree"] = []


class Plan(BaseModel):
    """What strict mode has to be told otherwise: bounds, defaults, unions, references and choices."""

    first: Step = Field(description="The first step.")
    steps: list[Step] = Field(default=[], max_length=50, min_length=0)
    shape: Circle | Square = Field(discriminator="kind")
    level: Literal["low", "high"] = "low"
    tags: set[str] = set()
    pair: tuple[int, str] | None = None
    note: str | None = Field(default=None, pattern="^[a-z]+$")
    website: str | None = Field(default=None, json_schema_extra={"format": "uri"})
    extra: dict[str, str] = {}
    tree: Tree | None = None


PROMPT = Prompt(name="library/plan", version="1", instructions="Plan it.", data={"said": "Hello"})


@pytest.mark.parametrize("schema", [Step, Plan, Tree, Circle])
async def test_each_schema_of_an_answer_is_taken_n3(server, schema):
    async with open_model(server.url, "gpt-4.1") as model:
        with pytest.raises(ModelFailed):  # the scripted answer is no JSON
            await model.complete_structured("reader", PROMPT, schema)

    assert server.refusals == []
    assert server.bodies[0]["response_format"]["type"] == "json_schema"


async def test_a_model_without_schemas_is_asked_for_json_n1(server):
    class Title(BaseModel):
        title: str

    async with open_model(server.url, "gpt-3.5-turbo") as model:
        server.scripted.play(*[Script(schema=IN_WORDS, text='{"title": "Boiler"}', sticky=True)])
        answer = await model.complete_structured("reader", PROMPT, Title)

    assert answer == Title(title="Boiler")
    assert [refusal.param for refusal in server.refusals][-1] == "response_format"


def _declare(name: str, description: str, properties: Any, **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "parameters": {"properties": properties, **fields},
    }


TEXT = {"type": "string", "description": "A text."}
COUNT = {"type": "integer", "description": "How many (default: 10, max: 50)"}
MANIFESTS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "meals": [
        _declare("find_meals", "Find meals nearby. Use this when the user is hungry.", {"query": TEXT, "place": TEXT}, required=["query"]),
        _declare("add_to_basket", "Add a meal.", {"meal_id": TEXT, "count": COUNT}, required=["meal_id"]),
        _declare("show_basket", "Show the basket.", {}, required=[]),
    ],
    "calendar": [
        _declare("list_dates", "List dates.", {"days": COUNT, "calendar_id": TEXT}, required=[]),
        _declare("add_date", "Add a date.", {"title": TEXT, "start": TEXT, "guests": {"type": "array", "items": {"type": "string"}}}, required=["title", "start"]),
    ],
    "shop": [
        _declare("create_order", "Create an order.", {"line_items": {"type": "array", "description": "Items with id and count"}, "note": TEXT}, required=["line_items"]),
        _declare("update_stock", "Update the stock.", {"levels": {"type": "object", "description": "Levels by id"}}, required=["levels"]),
    ],
    "tickets": [
        _declare("create_ticket", "Create a ticket.", {"title": TEXT, "priority": {"type": "string", "enum": ["low", "high", "low"]}}, required=["title"]),
        _declare("list_tickets", "List tickets.", {"limit": COUNT, "state": {"type": "string", "enum": []}}, required=[]),
    ],
    "posts": [
        _declare("post", "Post a text. " + "Use this when the user wants to post. " * 60, {"text": {"type": "string", "maxLength": 280}}, required=["text"]),
        _declare("like", "Like a post.", {"id": {"type": "string", "required": True}}),
    ],
    "stock": [
        _declare("get_stock", "Get the stock.", {"price": {"type": "float"}, "since": {"type": "date"}, "uid": TEXT}, required=["uid"]),
        _declare("receive", "Announce goods.", {"boxes": {"type": "array", "items": [{"type": "integer"}, {"type": "string"}]}}),
    ],
    "pages": [
        _declare("search", "Search pages.", {"query": TEXT, "filter": {"type": "string", "enum": ["page", "database"]}}, type="object", anyOf=[{"required": ["query"]}, {"required": ["filter"]}]),
        _declare("update_page", "Update a page.", {"data": {"allOf": [{"type": "object", "properties": {"title": TEXT}}, {"type": "object", "properties": {"icon": TEXT}}]}}, type="object"),
    ],
    "projects": [
        _declare("move", "Move a task.", {"task": {"oneOf": [{"type": "string"}, {"type": "integer"}]}, "to": {"type": ["string", "array"]}}, type="object"),
        _declare("label", "Label a task.", {"labels": {"type": "array", "items": {"type": "array"}}}, type="object"),
    ],
    "code": [
        _declare("create_issue", "Create an issue.", {"title": TEXT, "labels": {"type": "array", "items": {"type": "string"}}, "auto": {"type": "boolean", "default": True}}, required=["title"]),
        _declare("set_field", "Set a field.", {"value": {"$ref": "#/$defs/value"}}, **{"$defs": {"value": {"anyOf": [{"type": "string"}, {"type": "array"}]}}, "type": "object", "$schema": "http://json-schema.org/draft-07/schema#", "additionalProperties": False}),
    ],
    "body": [
        _declare("get_sleep", "Get the sleep.", {"date": {"type": "string", "format": "date", "nullable": True}}, type="object"),
        {"name": "get_strain", "description": "Get the strain.", "parameters": {}},
        {"name": "get_profile", "description": "Get the profile.", "parameters": {"type": "object"}},
    ],
}  # fmt: skip
"""Tools as apps declare them, each manifest with what one of the real ones holds."""


def _read_tools(app: str, declared: Sequence[Mapping[str, Any]]) -> list[ToolSpec]:
    source = Source(kind="app", id=app, name=app.title())
    return [ToolSpec(**tool, source=source) for tool in declared]


@pytest.mark.parametrize("app", [*MANIFESTS])
async def test_an_app_ends_no_answer_n3(server, app):
    tools = _read_tools(app, MANIFESTS[app])
    async with open_model(server.url, "gpt-4.1") as model:
        outcome = await _ask(model, tools)

    assert outcome.text == ANSWER
    assert outcome.left_out == []
    assert server.refusals == []
    offered = [tool["function"]["name"] for tool in server.bodies[0]["tools"]]
    assert offered == [SEARCH, *(tool.name for tool in tools)]


async def test_all_apps_together_end_no_answer_n3(server):
    tools = [tool for app, declared in MANIFESTS.items() for tool in _read_tools(app, declared)]
    async with open_model(server.url, "gpt-4.1") as model:
        outcome = await _ask(model, tools)

    assert outcome.text == ANSWER
    assert server.refusals == []


KEYWORDS: Mapping[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from(
        ["string", "array", "object", "float", "date", "null", ["array", "null"]]
    ),
    "description": st.sampled_from(["Short.", "long " * 400]),
    "enum": st.lists(st.sampled_from(["a", "b", 1, None]), max_size=3),
    "required": st.one_of(st.booleans(), st.lists(st.sampled_from(["a", "b"]), max_size=2)),
    "maxLength": st.integers(0, 9_000),
    "format": st.sampled_from(["date-time", "uri", "odd"]),
    "pattern": st.sampled_from(["^a$", "(", "(?=a)b"]),
    "default": st.none() | st.text(max_size=3),
    "$ref": st.sampled_from(["#", "#/$defs/a", "https://example.org/a"]),
}
SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    st.fixed_dictionaries({}, optional=dict(KEYWORDS)),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            **KEYWORDS,
            "properties": st.dictionaries(
                st.sampled_from(["a", "b", "x y", "uid"]), inner, max_size=3
            ),
            "items": inner | st.lists(inner, max_size=2) | st.booleans(),
            "additionalProperties": inner | st.booleans(),
            "$defs": st.dictionaries(st.just("a"), inner, max_size=1),
            **{union: st.lists(inner, max_size=3) for union in ("anyOf", "oneOf", "allOf")},
            "not": inner,
        },
    ),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(declared=st.lists(SCHEMAS, min_size=10, max_size=10))
def test_no_declaration_is_refused_n3(server, declared):
    """Ask with ten generated schemas at once: two hundred in all."""
    apps = Source(kind="app", id="a", name="App")
    tools = [
        ToolSpec(name=f"tool_{n}", description="Does it.", parameters=parameters, source=apps)
        for n, parameters in enumerate(declared)
    ]

    async def ask_once() -> Outcome:
        async with open_model(server.url, "gpt-4.1") as model:
            return await _ask(model, tools)

    server.refusals.clear()
    outcome = anyio.run(ask_once)

    assert server.refusals == []
    assert outcome.left_out == []
    assert len(server.bodies[-1]["tools"]) == len(tools) + 1
