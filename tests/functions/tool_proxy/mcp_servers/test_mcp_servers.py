"""MCP servers as apps, against a real one of the official SDK (T19)."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from queue import SimpleQueue
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
import pytest

from functions.tool_proxy.mcp_servers.mcp_results import to_tool_data
from functions.tool_proxy.registry.manifest import MAX_TOOLS
from shared.domain.apps.app import ChatTool
from shared.domain.errors import ToolFailed, ToolRefused
from shared.outbound.untrusted_text import MAX_RESULT_CHARS
from tests.fixtures.mcp_servers import McpServersFixture, open_mcp_servers_fixture
from tests.fixtures.notes_app import list_tool_names
from tests.servers import run_server
from tests.servers.mcp_server import FIND_TOOL, NotesMcp

MAX_WAIT_S = 30
SERVER_KINDS = {
    "sessions and streams": {},
    "sessions and JSON": {"json": True},
    "no sessions": {"stateless": True},
    "no sessions and JSON": {"stateless": True, "json": True},
}


@pytest.fixture
def url(notes: NotesMcp) -> Iterator[str]:
    with run_server(notes.build_app()) as origin:
        yield f"{origin}/mcp"


def build_tool(name: str, **changes: Any) -> types.Tool:
    return FIND_TOOL.model_copy(update={"name": name, **changes})


def build_result(*content: types.ContentBlock, **fields: Any) -> types.CallToolResult:
    return types.CallToolResult(content=list(content), **fields)


def build_text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


async def test_a_server_becomes_a_private_app_with_the_tools_that_it_lists_t19(world, url):
    added = await world.add(url)

    assert (added.status_code, added.json()) == (
        200,
        {
            "app_id": added.json()["app_id"],
            "requires_oauth": False,
            "auth_url": None,
            "tools_count": 1,
            "tool_names": ["find"],
            "refused_tools": [],
        },
    )
    app = await world.get_app(added.json()["app_id"])
    assert app.private
    assert app.chat_tools == (
        ChatTool(
            name="find",
            description="Find a note",
            endpoint=url,
            method="POST",
            parameters=FIND_TOOL.input_schema,
            read_only=True,
            transport="mcp",
        ),
    )


async def test_other_users_cannot_see_or_refresh_an_mcp_server_t19(world, url):
    app_id = (await world.add(url)).json()["app_id"]

    assert (await world.request("GET", f"/v1/apps/{app_id}", uid="bob")).status_code == 404
    response = await world.request("POST", f"/v1/apps/{app_id}/mcp/refresh", uid="bob")
    assert response.status_code == 404


async def test_an_mcp_server_cannot_be_made_public_t19(world, url):
    app_id = (await world.add(url)).json()["app_id"]

    publish_response = await world.request("PATCH", f"/v1/apps/{app_id}", json={"private": False})
    rename_response = await world.request("PATCH", f"/v1/apps/{app_id}", json={"name": "Jottings"})

    assert publish_response.status_code == 409
    assert rename_response.json()["name"] == "Jottings"
    assert list_tool_names(rename_response.json()) == ["find"]


@pytest.mark.parametrize("kind", SERVER_KINDS)
async def test_a_call_reaches_every_kind_of_server_t19(tmp_path, kind):
    notes = NotesMcp()
    with (
        run_server(notes.build_app(**SERVER_KINDS[kind])) as origin,
        open_mcp_servers_fixture(tmp_path, [origin]) as world,
    ):
        app_id = await world.add_and_install(f"{origin}/mcp")

        assert await world.call(app_id, q="milk", limit=None) == "Milk, eggs."

    assert notes.calls == [("find", {"q": "milk"})]


async def test_requests_to_a_server_do_not_name_the_user_t19(world, url, notes):
    app_id = await world.add_and_install(url)
    await world.call(app_id, q="milk")

    header_texts = [
        value for _, headers in notes.requests for value in (*headers.keys(), *headers.values())
    ]

    assert not [value for value in header_texts if "alice" in value or "webhook" in value]
    assert "GET" not in {method for method, _ in notes.requests}


async def test_a_session_ends_with_its_call_t19(world, url, notes):
    app_id = await world.add_and_install(url)
    await world.call(app_id, q="milk")

    opened_sessions = {
        headers["mcp-session-id"] for _, headers in notes.requests if "mcp-session-id" in headers
    }
    closed_sessions = {
        headers["mcp-session-id"] for method, headers in notes.requests if method == "DELETE"
    }

    assert opened_sessions == closed_sessions
    assert notes.requests[-1][0] == "DELETE" or not opened_sessions


async def test_a_cancelled_call_is_cancelled_at_the_server_t19(tmp_path):
    started_calls, ended_calls = SimpleQueue[None](), SimpleQueue[str]()

    async def stuck(_: object, __: object) -> types.CallToolResult:
        started_calls.put(None)
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            ended_calls.put("cancelled")
            raise
        raise AssertionError

    notes = NotesMcp()
    notes.answer = stuck
    with (
        run_server(notes.build_app(stateless=True)) as origin,
        open_mcp_servers_fixture(tmp_path, [origin]) as world,
    ):
        app_id = await world.add_and_install(f"{origin}/mcp")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(world.call, app_id, q="milk"))
            await anyio.to_thread.run_sync(partial(started_calls.get, timeout=MAX_WAIT_S))
            tasks.cancel_scope.cancel()
        ended = await anyio.to_thread.run_sync(partial(ended_calls.get, timeout=MAX_WAIT_S))

    assert ended == "cancelled"


async def test_arguments_are_checked_before_anything_is_sent_t19(world, url, notes):
    app_id = await world.add_and_install(url)

    with pytest.raises(ToolRefused, match="'q' is a required property"):
        await world.call(app_id, limit=3)

    assert notes.calls == []


async def test_a_refresh_replaces_the_tools_by_those_the_server_lists_t19(world, url, notes):
    app_id = await world.add_and_install(url)
    notes.tools = [build_tool("search"), build_tool("write", annotations=None)]

    response = await world.request("POST", f"/v1/apps/{app_id}/mcp/refresh")

    assert response.json()["tool_names"] == ["search", "write"]
    assert [t.read_only for t in (await world.get_app(app_id)).chat_tools] == [True, False]


@pytest.mark.parametrize(
    ("result", "content"),
    [
        (build_result(build_text('{"n": 1}'), structured_content={"n": 1}), {"n": 1}),
        (build_result(structured_content={"n": [1]}), {"n": [1]}),
        (build_result(build_text("One."), structured_content={"n": 1}), "One."),
        (build_result(build_text('{"n": 2}'), structured_content={"n": 1}), '{"n": 2}'),
        (build_result(build_text('{"n": 1}')), '{"n": 1}'),
    ],
)
def test_structured_content_is_data_where_the_text_says_the_same_m111(result, content):
    tool = ChatTool(name="find", description="Find", endpoint="https://notes.example/mcp")

    assert to_tool_data(tool, result).content == content


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (build_result(build_text("Milk"), build_text("Eggs")), "Milk\nEggs"),
        (build_result(build_text('{"n":1}'), structured_content={"n": 1}), '{"n":1}'),
        (build_result(structured_content={"n": [1, "ü"]}), '{"n":[1,"ü"]}'),
        (build_result(), ""),
        (
            build_result(
                build_text("See"), types.ImageContent(type="image", data="", mime_type="image/png")
            ),
            "See\n(image left out)",
        ),
        (
            build_result(types.ResourceLink(type="resource_link", name="Note", uri="note://1")),
            "Note: note://1",
        ),
        (
            build_result(
                types.EmbeddedResource(
                    type="resource", resource=types.TextResourceContents(uri="n://1", text="Milk")
                )
            ),
            "Milk",
        ),
        (
            build_result(
                types.EmbeddedResource(
                    type="resource", resource=types.BlobResourceContents(uri="n://1", blob="AAAA")
                )
            ),
            "(n://1, left out)",
        ),
        (build_result(build_text("a\u202eb\u200bc\U000e0041d")), "abcd"),
    ],
)
async def test_an_answer_becomes_text_t19(world, url, notes, result, text):
    notes.result = result
    app_id = await world.add_and_install(url)

    assert await world.call(app_id, q="milk") == text


async def test_a_long_answer_is_truncated_t19(world, url, notes):
    notes.result = build_result(build_text("x" * 500_000))
    app_id = await world.add_and_install(url)

    assert await world.call(app_id, q="milk") == "x" * MAX_RESULT_CHARS


async def test_an_error_in_the_result_is_a_failed_call_t19(world, url, notes):
    notes.result = build_result(
        build_text("No such note. Bearer abcdefghijk\nTraceback"), is_error=True
    )
    app_id = await world.add_and_install(url)

    with pytest.raises(ToolFailed) as raised:
        await world.call(app_id, q="milk")

    assert str(raised.value) == "Error calling find: No such note. [removed]"


async def test_the_hints_of_a_server_declare_its_tools_t19(world, url):
    app = await world.get_app(await world.add_and_install(url))

    assert [(tool.read_only, tool.destructive) for tool in app.chat_tools] == [(True, False)]


async def test_the_call_log_holds_neither_arguments_nor_answers_t19(world, url, notes):
    app_id = await world.add_and_install(url)
    await world.call(app_id, q="a secret")
    world.clock.advance(seconds=1)
    notes.result = build_result(build_text("a secret"), is_error=True)
    with pytest.raises(ToolFailed):
        await world.call(app_id, q="a secret")

    calls = await world.request("GET", f"/v1/apps/{app_id}/calls")

    entries = [(call["kind"], call["name"], call["failed"], call["error"]) for call in calls.json()]
    assert entries == [("mcp", "find", False, "isError"), ("mcp", "find", False, None)]
    assert "secret" not in calls.text


async def test_the_circuit_breaker_opens_for_an_unavailable_server_t19(tmp_path):
    with ExitStack() as server:
        origin = server.enter_context(run_server(NotesMcp().build_app()))
        with open_mcp_servers_fixture(tmp_path, [origin]) as world:
            app_id = await world.add_and_install(f"{origin}/mcp")
            server.close()
            *errors, circuit_open_text = [
                await call_and_read_failure(world, app_id) for _ in range(6)
            ]

    assert {text.partition(" ")[0] for text in errors} == {"Error:"}
    assert "not called for half a minute" in circuit_open_text


async def call_and_read_failure(world: McpServersFixture, app_id: str) -> str:
    with pytest.raises(ToolFailed) as raised:
        await world.call(app_id, q="milk")
    return str(raised.value)


async def test_listed_tools_are_validated_like_manifests_t19(world, url, notes):
    notes.tools = [
        build_tool("väter/töchter 🌱"),
        build_tool("hidden", description="Find\u202e a\U000e0041 note"),
        build_tool("deep", input_schema=build_nested_schema(40)),
        build_tool(
            "remote", input_schema={"type": "object", "$ref": "https://evil.example/schema"}
        ),
        build_tool("x" * 257),
        build_tool("väter/töchter 🌱"),
        build_tool("untold", description=None, title="Untold"),
    ]

    added = (await world.add(url)).json()

    assert added["tool_names"] == ["väter/töchter 🌱", "hidden", "untold"]
    assert added["refused_tools"] == [
        "deep: `parameters` is too deep",
        "remote: `parameters` refers to another document",
        f"{'x' * 64}: `name` is over 256 characters",
        "väter/töchter 🌱: another tool has this name",
    ]
    hidden, without_description = (await world.get_app(added["app_id"])).chat_tools[1:]
    assert (hidden.description, without_description.description) == ("Find a note", "Untold")


def build_nested_schema(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"in": schema}}
    return schema


async def test_only_the_first_tools_of_a_long_list_are_accepted_t19(world, url, notes):
    notes.tools = [build_tool(f"tool{n}") for n in range(3_000)]
    notes.page_size = 100

    added = (await world.add(url)).json()

    assert added["tools_count"] == MAX_TOOLS
    assert added["refused_tools"][0] == f"tool40: an app may have {MAX_TOOLS} tools"
    assert len(added["refused_tools"]) <= MAX_TOOLS
