"""T2 and T3: what is taken from a manifest and what is refused, with the reason."""

import json
import tracemalloc
from typing import Any

import pytest

from functions.tool_proxy.apps.manifest import BadManifest, ChatMessages, Manifest, read_manifest
from shared.domain.app import ExternalIntegration

AT = "https://notes.example.com/.well-known/omi-tools.json"
FIND: dict[str, Any] = {"name": "find", "description": "Find a note", "endpoint": "/find"}


def read(*tools: Any, home: str | None = None, **more: Any) -> Manifest:
    integration = ExternalIntegration(chat_tools_manifest_url=AT, app_home_url=home)
    return read_manifest(json.dumps({"tools": tools, **more}).encode(), integration)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": None}, "`name` is missing"),
        ({"name": "  "}, "`name` is missing"),
        ({"name": "n" * 65}, "over 64 characters"),
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
        ({"parameters": {"properties": {"a": {"type": "text"}}}}, "not a JSON Schema"),
        (
            {"parameters": {"properties": {"a": {"$ref": "https://x.example/s"}}}},
            "another document",
        ),
        ({"parameters": {"properties": {"a": {"$ref": "#/$defs/none"}}}}, "not there"),
        ({"parameters": {"properties": {"a": {"$ref": "#"}}}}, "recursive"),
        ({"parameters": {"patternProperties": {"(a+)+$": {}}}}, "patternProperties"),
        ({"parameters": {"unevaluatedProperties": False}}, "unevaluatedProperties"),
        ({"parameters": {"title": "t" * 20_000}}, "over 16384 bytes"),
    ],
)
def test_t2_a_bad_tool_is_skipped_with_a_reason_and_the_rest_load(change, reason):
    manifest = read({**FIND, "name": "bad", **change}, FIND)

    assert [tool.name for tool in manifest.tools] == ["find"]
    assert len(manifest.refused) == 1
    assert reason in manifest.refused[0]


def test_t3_references_cannot_multiply_a_text_without_end():
    references = {f"p{n}": {"$ref": "#/$defs/long"} for n in range(1_000)}
    exploding = {"$defs": {"long": {"title": "t" * 100_000}}, "properties": references}

    tracemalloc.start()
    manifest = read({**FIND, "parameters": exploding})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert "over 16384 bytes" in manifest.refused[0]
    assert peak < 5_000_000


def test_t2_the_schemas_of_all_tools_together_have_a_limit():
    large = {"title": "t" * 15_000}
    manifest = read(*({**FIND, "name": f"t{n}", "parameters": large} for n in range(40)))

    assert [tool.name for tool in manifest.tools] == ["t0", "t1", "t2", "t3"]
    assert "those of all tools over 65536" in manifest.refused[0]


def test_t2_the_parts_of_schemas_count_for_the_memory_they_take():
    crowded: dict[str, Any] = {"properties": {"one": {"enum": [{}] * 1_500}}}

    manifest = read(*({**FIND, "name": f"t{n}", "parameters": crowded} for n in range(40)))

    assert len(manifest.tools) == 5
    assert "those of all tools over 65536" in manifest.refused[0]


def test_t2_what_is_beyond_the_last_place_is_not_even_read():
    places = [{**FIND, "name": f"t{n}"} for n in range(40)]

    manifest = read(*places, {**FIND, "name": "u", "parameters": "what would cost time to read"})

    assert manifest.refused == ("u: an app may have 40 tools",)


def test_t2_a_second_tool_of_a_name_and_one_too_many_are_refused():
    manifest = read(*({**FIND, "name": f"t{n}"} for n in range(41)), {**FIND, "name": "t0"})

    assert len(manifest.tools) == 40
    assert manifest.refused == ("t40: an app may have 40 tools", "t0: another tool has this name")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"[]",
        b"{}",
        b'{"tools": ["\\ud800"]}',
        b'{"tools": [NaN]}',
        b"[" * 200_000,
    ],
)
def test_t2_what_is_no_manifest_is_refused_whole(body):
    with pytest.raises(BadManifest):
        read_manifest(body, ExternalIntegration(chat_tools_manifest_url=AT))


@pytest.mark.parametrize(
    ("endpoint", "home", "joined"),
    [
        ("/find", None, "https://notes.example.com/find"),
        ("/find", "https://home.example.com/app/", "https://home.example.com/app/find"),
        ("https://other.example.com/x", None, "https://other.example.com/x"),
    ],
)
def test_t3_a_relative_endpoint_joins_the_apps_base(endpoint, home, joined):
    [tool] = read({**FIND, "endpoint": endpoint}, home=home).tools

    assert tool.endpoint == joined


def test_t3_a_full_json_schema_passes_through_with_its_references_written_out():
    day = {"type": "string", "enum": ["mon", "tue"], "default": "mon"}
    properties = {
        "days": {"type": "array", "items": {"$ref": "#/$defs/day"}},
        "place": {"type": "object", "properties": {"city": {"type": "string", "format": "x"}}},
    }
    schema = {"properties": properties, "required": ["days"], "$defs": {"day": day}}

    [tool] = read({**FIND, "parameters": json.dumps(schema)}).tools

    written_out = {**properties, "days": {"type": "array", "items": day}}
    assert tool.parameters == {
        "type": "object",
        "properties": written_out,
        "required": ["days"],
    }


@pytest.mark.parametrize("written", [dict, json.dumps])
def test_what_a_model_would_read_and_nobody_sees_is_taken_out(written):
    unseen = "\u202e\U000e0049\U000e0067"
    [tool] = read(
        {
            "name": f"fi{unseen}nd",
            "description": f"Find{unseen} a note",
            "endpoint": "/find",
            "parameters": written({"description": f"A{unseen} note"}),
            "status_message": f"Looking\r\n\n{unseen}for  it",
        }
    ).tools

    assert (tool.name, tool.description) == ("find", "Find a note")
    assert tool.parameters["description"] == "A note"
    assert tool.status_message == "Looking for it"


def test_t3_the_other_fields_have_their_defaults():
    [plain, spoken] = read(
        FIND,
        {**FIND, "name": "b", "method": "get", "auth_required": False, "status_message": "Looking"},
    ).tools

    assert (plain.method, plain.auth_required, plain.status_message) == ("POST", True, None)
    assert (spoken.method, spoken.auth_required, spoken.status_message) == ("GET", False, "Looking")


@pytest.mark.parametrize(
    ("declared", "settings"),
    [
        (None, None),
        ({"enabled": True}, ChatMessages(enabled=True)),
        ({"enabled": True, "target": "main", "notify": True}, ChatMessages(enabled=True, target="main", notify=True)),
        ({"enabled": "yes", "target": "everyone"}, ChatMessages()),
    ],
)  # fmt: skip
def test_chat_messages_are_read_where_declared(declared, settings):
    assert read(FIND, chat_messages=declared).chat_messages == settings
