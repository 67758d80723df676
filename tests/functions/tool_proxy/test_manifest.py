"""Manifests: the tools that are accepted, and the reasons for those that are refused (T2, T3)."""

import json
import tracemalloc
from typing import Any

import pytest

from functions.tool_proxy.ports import ChatMessageSettings, Manifest
from functions.tool_proxy.registry.manifest import InvalidManifest, read_manifest
from shared.domain.apps.app import ExternalIntegration

MANIFEST_URL = "https://notes.example.com/.well-known/omi-tools.json"
FIND_TOOL: dict[str, Any] = {"name": "find", "description": "Find a note", "endpoint": "/find"}

NESTED: Any = {"type": "array"}
for _ in range(40):
    NESTED = {"type": "array", "items": NESTED}


def read_tools_manifest(*tools: Any, home: str | None = None, **fields: Any) -> Manifest:
    integration = ExternalIntegration(chat_tools_manifest_url=MANIFEST_URL, app_home_url=home)
    return read_manifest(json.dumps({"tools": tools, **fields}).encode(), integration)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": None}, "`name` is missing"),
        ({"name": "  "}, "`name` is missing"),
        ({"name": "n" * 257}, "over 256 characters"),
        ({"description": ""}, "`description` is missing"),
        ({"endpoint": 7}, "`endpoint` is missing"),
        ({"endpoint": "http://notes.example.com/find"}, "https://"),
        ({"endpoint": "//evil.example.com/find"}, "https://"),
        ({"endpoint": "file:///etc/passwd"}, "https://"),
        ({"method": "BREW"}, "`method` must be one of"),
        ({"method": 3}, "`method` must be one of"),
        ({"parameters": []}, "type object"),
        ({"parameters": {"type": "array"}}, "type object"),
        ({"parameters": "{broken"}, "not JSON"),
        ({"parameters": {"properties": ["a"]}}, "`properties` of `parameters` must be an object"),
        (
            {"parameters": {"properties": {"a": {"$ref": "https://x.example/s"}}}},
            "another document",
        ),
        ({"parameters": {"properties": {"a": {"$ref": "#/$defs/none"}}}}, "does not exist"),
        ({"parameters": {"properties": {"a": {"items": NESTED}}}}, "too deep"),
        ({"parameters": {"title": "t" * 20_000}}, "over 16384 bytes"),
    ],
)
def test_a_bad_tool_is_skipped_with_a_reason_and_the_rest_load_t2(change, reason):
    manifest = read_tools_manifest({**FIND_TOOL, "name": "bad", **change}, FIND_TOOL)

    assert [tool.name for tool in manifest.tools] == ["find"]
    assert len(manifest.refused_tools) == 1
    assert reason in manifest.refused_tools[0]


@pytest.mark.parametrize(
    "parameters",
    [
        {"properties": {"a": {"type": "float"}, "b": {"type": "date"}}},
        {"properties": {"a": {"type": "string", "required": True}}},
        {"properties": {"a": {"type": "array", "items": [{"type": "string"}]}}},
        {"properties": {"a": {"type": "array"}}, "anyOf": [{"required": ["a"]}]},
        {"properties": {"a": {"enum": []}}, "required": True},
        {"properties": {"a": {}}, "patternProperties": {"(a+)+$": {}}},
        {"properties": {"a": {}}, "unevaluatedProperties": False},
        {"properties": {"uid": {"type": "string"}}, "required": ["uid"]},
    ],
)
def test_a_declaration_with_mistakes_is_kept_as_it_is_n3(parameters):
    manifest = read_tools_manifest({**FIND_TOOL, "parameters": parameters})

    assert manifest.refused_tools == ()
    assert manifest.tools[0].parameters == {"type": "object", **parameters}


def test_a_recursive_part_may_be_any_object_n3():
    page = {"properties": {"title": {"type": "string"}, "parent": {"$ref": "#/$defs/page"}}}

    [tool] = read_tools_manifest(
        {**FIND_TOOL, "parameters": {"properties": page["properties"], "$defs": {"page": page}}}
    ).tools

    parent = {"properties": {"title": {"type": "string"}, "parent": {"type": "object"}}}
    assert tool.parameters["properties"]["parent"] == parent


def test_a_long_description_is_cut_n3():
    manifest = read_tools_manifest({**FIND_TOOL, "description": "d" * 9_000})

    assert manifest.refused_tools == ()
    assert manifest.tools[0].description == "d" * 4_000


def test_expanding_references_cannot_exhaust_memory_t3():
    references = {f"p{n}": {"$ref": "#/$defs/long"} for n in range(1_000)}
    exploding = {"$defs": {"long": {"title": "t" * 100_000}}, "properties": references}

    tracemalloc.start()
    manifest = read_tools_manifest({**FIND_TOOL, "parameters": exploding})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert "over 16384 bytes" in manifest.refused_tools[0]
    assert peak < 5_000_000


def test_the_schemas_of_all_tools_together_have_a_limit_t2():
    large = {"title": "t" * 15_000}
    manifest = read_tools_manifest(
        *({**FIND_TOOL, "name": f"t{n}", "parameters": large} for n in range(40))
    )

    assert [tool.name for tool in manifest.tools] == ["t0", "t1", "t2", "t3"]
    assert "those of all tools over 65536" in manifest.refused_tools[0]


def test_each_schema_node_counts_towards_the_size_limit_t2():
    crowded: dict[str, Any] = {"properties": {"one": {"enum": [{}] * 1_500}}}

    manifest = read_tools_manifest(
        *({**FIND_TOOL, "name": f"t{n}", "parameters": crowded} for n in range(40))
    )

    assert len(manifest.tools) == 5
    assert "those of all tools over 65536" in manifest.refused_tools[0]


def test_tools_beyond_the_limit_are_refused_without_parsing_t2():
    places = [{**FIND_TOOL, "name": f"t{n}"} for n in range(40)]

    manifest = read_tools_manifest(
        *places, {**FIND_TOOL, "name": "u", "parameters": "what would cost time to read"}
    )

    assert manifest.refused_tools == ("u: an app may have 40 tools",)


def test_a_duplicate_tool_name_and_a_tool_over_the_limit_are_refused_t2():
    manifest = read_tools_manifest(
        *({**FIND_TOOL, "name": f"t{n}"} for n in range(41)), {**FIND_TOOL, "name": "t0"}
    )

    assert len(manifest.tools) == 40
    assert manifest.refused_tools == (
        "t40: an app may have 40 tools",
        "t0: another tool has this name",
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"[]",
        b"{}",
        b'{"tools": ["\\ud800"]}',
        b'{"tools": [NaN]}',
        b'{"tools": [1e999]}',
        b"[" * 200_000,
    ],
)
def test_an_invalid_manifest_is_refused_as_a_whole_t2(body):
    with pytest.raises(InvalidManifest):
        read_manifest(body, ExternalIntegration(chat_tools_manifest_url=MANIFEST_URL))


@pytest.mark.parametrize(
    ("endpoint", "home", "joined"),
    [
        ("/find", None, "https://notes.example.com/find"),
        ("/find", "https://home.example.com/app/", "https://home.example.com/app/find"),
        ("https://other.example.com/x", None, "https://other.example.com/x"),
    ],
)
def test_a_relative_endpoint_joins_the_apps_base_t3(endpoint, home, joined):
    [tool] = read_tools_manifest({**FIND_TOOL, "endpoint": endpoint}, home=home).tools

    assert tool.endpoint == joined


def test_a_full_json_schema_passes_through_with_its_references_written_out_t3():
    day = {"type": "string", "enum": ["mon", "tue"], "default": "mon"}
    properties = {
        "days": {"type": "array", "items": {"$ref": "#/$defs/day"}},
        "place": {"type": "object", "properties": {"city": {"type": "string", "format": "x"}}},
    }
    schema = {"properties": properties, "required": ["days"], "$defs": {"day": day}}

    [tool] = read_tools_manifest({**FIND_TOOL, "parameters": json.dumps(schema)}).tools

    written_out = {**properties, "days": {"type": "array", "items": day}}
    assert tool.parameters == {
        "type": "object",
        "properties": written_out,
        "required": ["days"],
    }


@pytest.mark.parametrize("written", [dict, json.dumps])
def test_invisible_characters_are_stripped_from_tool_declarations(written):
    invisible = "\u202e\U000e0049\U000e0067"
    [tool] = read_tools_manifest(
        {
            "name": f"fi{invisible}nd",
            "description": f"Find{invisible} a note",
            "endpoint": "/find",
            "parameters": written({"description": f"A{invisible} note"}),
            "status_message": f"Looking\r\n\n{invisible}for  it",
        }
    ).tools

    assert (tool.name, tool.description) == ("find", "Find a note")
    assert tool.parameters["description"] == "A note"
    assert tool.status_message == "Looking for it"


def test_the_other_fields_have_their_defaults_t3():
    [plain, customised] = read_tools_manifest(
        FIND_TOOL,
        {
            **FIND_TOOL,
            "name": "b",
            "method": "get",
            "auth_required": False,
            "status_message": "Looking",
        },
    ).tools

    assert (plain.method, plain.auth_required, plain.status_message) == ("POST", True, None)
    assert (customised.method, customised.auth_required, customised.status_message) == (
        "GET",
        False,
        "Looking",
    )


@pytest.mark.parametrize(
    ("declared", "settings"),
    [
        (None, None),
        ({"enabled": True}, ChatMessageSettings(enabled=True)),
        ({"enabled": True, "target": "main", "notify": True}, ChatMessageSettings(enabled=True, target="main", notify=True)),
        ({"enabled": "yes", "target": "everyone"}, ChatMessageSettings()),
    ],
)  # fmt: skip
def test_chat_messages_are_read_where_declared(declared, settings):
    assert read_tools_manifest(FIND_TOOL, chat_messages=declared).chat_messages == settings
