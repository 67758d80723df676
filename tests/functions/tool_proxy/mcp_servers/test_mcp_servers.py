"""MCP servers as apps, against a real one of the official SDK (T19)."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
import pytest

from functions.tool_proxy.apps.manifest import MAX_TOOLS
from functions.tool_proxy.calls.results import MAX_TEXT
from shared.domain.app import ChatTool
from shared.domain.errors import ToolFailed, ToolRefused
from tests.functions.tool_proxy.mcp_servers.world import World, world_in
from tests.servers import running
from tests.servers.mcp_server import FIND, NotesMcp

PATIENCE_S = 30
KINDS = {
    "sessions and streams": {},
    "sessions and JSON": {"json": True},
    "no sessions": {"stateless": True},
    "no sessions and JSON": {"stateless": True, "json": True},
}


@pytest.fixture
def notes() -> NotesMcp:
    return NotesMcp()


@pytest.fixture
def url(notes: NotesMcp) -> Iterator[str]:
    with running(notes.app()) as origin:
        yield f"{origin}/mcp"


@pytest.fixture
def world(url: str, tmp_path: Path) -> Iterator[World]:
    with world_in(tmp_path, [url.removesuffix("/mcp")]) as world:
        yield world


def tool(name: str, **changes: Any) -> types.Tool:
    return FIND.model_copy(update={"name": name, **changes})


def answered(*content: types.ContentBlock, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=list(content), **more)


def said(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


async def test_t19_a_server_becomes_a_private_app_with_the_tools_that_it_lists(world, url):
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
    app = await world.app(added.json()["app_id"])
    assert app.private
    assert app.chat_tools == (
        ChatTool(
            name="find",
            description="Find a note",
            endpoint=url,
            method="POST",
            parameters=FIND.input_schema,
            read_only=True,
            transport="mcp",
        ),
    )


async def test_t19_nobody_else_sees_or_asks_it(world, url):
    app_id = (await world.add(url)).json()["app_id"]

    assert (await world.request("GET", f"/v1/apps/{app_id}", uid="bob")).status_code == 404
    refreshed = await world.request("POST", f"/v1/apps/{app_id}/mcp/refresh", uid="bob")
    assert refreshed.status_code == 404


async def test_t19_it_stays_its_owners_own(world, url):
    app_id = (await world.add(url)).json()["app_id"]

    published = await world.request("PATCH", f"/v1/apps/{app_id}", json={"private": False})
    renamed = await world.request("PATCH", f"/v1/apps/{app_id}", json={"name": "Jottings"})

    assert published.status_code == 409
    assert renamed.json()["name"] == "Jottings"
    assert renamed.json()["chat_tools"] == ["find"]


@pytest.mark.parametrize("kind", KINDS)
async def test_t19_a_call_reaches_every_kind_of_server(tmp_path, kind):
    notes = NotesMcp()
    with (
        running(notes.app(**KINDS[kind])) as origin,
        world_in(tmp_path, [origin]) as world,
    ):
        app_id = await world.installed(f"{origin}/mcp")

        assert await world.call(app_id, q="milk", limit=None) == "Milk, eggs."

    assert notes.calls == [("find", {"q": "milk"})]


async def test_t19_a_server_learns_nothing_about_the_user(world, url, notes):
    app_id = await world.installed(url)
    await world.call(app_id, q="milk")

    told = [
        value for _, headers in notes.requests for value in (*headers.keys(), *headers.values())
    ]

    assert not [value for value in told if "alice" in value or "webhook" in value]
    assert "GET" not in {method for method, _ in notes.requests}


async def test_t19_a_session_ends_with_its_call(world, url, notes):
    app_id = await world.installed(url)
    await world.call(app_id, q="milk")

    opened = {
        headers["mcp-session-id"] for _, headers in notes.requests if "mcp-session-id" in headers
    }
    closed = {headers["mcp-session-id"] for method, headers in notes.requests if method == "DELETE"}

    assert opened == closed
    assert notes.requests[-1][0] == "DELETE" or not opened


async def test_t19_a_call_that_is_given_up_leaves_the_server(tmp_path):
    called, left = SimpleQueue[None](), SimpleQueue[None]()

    async def stuck(_: object, __: object) -> types.CallToolResult:
        called.put(None)
        try:
            await anyio.sleep_forever()
        finally:
            left.put(None)
        raise AssertionError

    notes = NotesMcp()
    notes.answer = stuck
    with (
        running(notes.app(stateless=True)) as origin,
        world_in(tmp_path, [origin]) as world,
    ):
        app_id = await world.installed(f"{origin}/mcp")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(world.call, app_id, q="milk"))
            await anyio.to_thread.run_sync(partial(called.get, timeout=PATIENCE_S))
            tasks.cancel_scope.cancel()
        await anyio.to_thread.run_sync(partial(left.get, timeout=PATIENCE_S))


async def test_t19_arguments_are_checked_before_anything_is_sent(world, url, notes):
    app_id = await world.installed(url)

    with pytest.raises(ToolRefused, match="'q' is a required property"):
        await world.call(app_id, limit=3)

    assert notes.calls == []


async def test_t19_a_refresh_takes_what_the_server_lists_now(world, url, notes):
    app_id = await world.installed(url)
    notes.tools = [tool("search"), tool("write", annotations=None)]

    refreshed = await world.request("POST", f"/v1/apps/{app_id}/mcp/refresh")

    assert refreshed.json()["tool_names"] == ["search", "write"]
    assert [t.read_only for t in (await world.app(app_id)).chat_tools] == [True, False]


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (answered(said("Milk"), said("Eggs")), "Milk\nEggs"),
        (answered(said('{"n":1}'), structured_content={"n": 1}), '{"n":1}'),
        (answered(structured_content={"n": [1, "ü"]}), '{"n":[1,"ü"]}'),
        (answered(), ""),
        (
            answered(said("See"), types.ImageContent(type="image", data="", mime_type="image/png")),
            "See\n(image left out)",
        ),
        (
            answered(types.ResourceLink(type="resource_link", name="Note", uri="note://1")),
            "Note: note://1",
        ),
        (
            answered(
                types.EmbeddedResource(
                    type="resource", resource=types.TextResourceContents(uri="n://1", text="Milk")
                )
            ),
            "Milk",
        ),
        (
            answered(
                types.EmbeddedResource(
                    type="resource", resource=types.BlobResourceContents(uri="n://1", blob="AAAA")
                )
            ),
            "(n://1, left out)",
        ),
        (answered(said("a\u202eb\u200bc\U000e0041d")), "abcd"),
    ],
)
async def test_t19_an_answer_becomes_text(world, url, notes, result, text):
    notes.result = result
    app_id = await world.installed(url)

    assert await world.call(app_id, q="milk") == text


async def test_t19_a_long_answer_is_cut(world, url, notes):
    notes.result = answered(said("x" * 500_000))
    app_id = await world.installed(url)

    assert await world.call(app_id, q="milk") == "x" * MAX_TEXT


async def test_t19_an_error_in_the_result_is_a_failed_call(world, url, notes):
    notes.result = answered(said("No such note. Bearer abcdefghijk\nTraceback"), is_error=True)
    app_id = await world.installed(url)

    with pytest.raises(ToolFailed) as failed:
        await world.call(app_id, q="milk")

    assert str(failed.value) == "Error calling find: No such note. [removed]"


async def test_t19_a_servers_word_that_a_tool_only_reads_is_kept_and_not_believed(world, url):
    app = await world.app(await world.installed(url))

    assert [(tool.read_only, tool.side_effect) for tool in app.chat_tools] == [(True, True)]


async def test_t19_calls_are_logged_for_the_developer_without_what_was_said(world, url, notes):
    app_id = await world.installed(url)
    await world.call(app_id, q="a secret")
    world.clock.pass_(seconds=1)
    notes.result = answered(said("a secret"), is_error=True)
    with pytest.raises(ToolFailed):
        await world.call(app_id, q="a secret")

    calls = await world.request("GET", f"/v1/apps/{app_id}/calls")

    logged = [(call["kind"], call["name"], call["failed"], call["error"]) for call in calls.json()]
    assert logged == [("mcp", "find", False, "isError"), ("mcp", "find", False, None)]
    assert "secret" not in calls.text


async def test_t19_a_server_that_is_down_gets_a_rest(tmp_path):
    with ExitStack() as server:
        origin = server.enter_context(running(NotesMcp().app()))
        with world_in(tmp_path, [origin]) as world:
            app_id = await world.installed(f"{origin}/mcp")
            server.close()
            *told, last = [await failure(world, app_id) for _ in range(6)]

    assert {text.partition(" ")[0] for text in told} == {"Error:"}
    assert "left alone for half a minute" in last


async def failure(world: World, app_id: str) -> str:
    with pytest.raises(ToolFailed) as failed:
        await world.call(app_id, q="milk")
    return str(failed.value)


async def test_t19_tools_are_read_with_the_suspicion_of_manifests(world, url, notes):
    notes.tools = [
        tool("väter/töchter 🌱"),
        tool("hidden", description="Find\u202e a\U000e0041 note"),
        tool("deep", input_schema=nested(40)),
        tool("remote", input_schema={"type": "object", "$ref": "https://evil.example/schema"}),
        tool("x" * 65),
        tool("väter/töchter 🌱"),
        tool("untold", description=None, title="Untold"),
    ]

    added = (await world.add(url)).json()

    assert added["tool_names"] == ["väter/töchter 🌱", "hidden", "untold"]
    assert added["refused_tools"] == [
        "deep: `parameters` is recursive or too deep",
        "remote: `parameters` refers to another document",
        f"{'x' * 64}: `name` is over 64 characters",
        "väter/töchter 🌱: another tool has this name",
    ]
    hidden, untold = (await world.app(added["app_id"])).chat_tools[1:]
    assert (hidden.description, untold.description) == ("Find a note", "Untold")


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"in": schema}}
    return schema


async def test_t19_of_thousands_of_tools_the_first_are_taken(world, url, notes):
    notes.tools = [tool(f"tool{n}") for n in range(3_000)]
    notes.page = 100

    added = (await world.add(url)).json()

    assert added["tools_count"] == MAX_TOOLS
    assert added["refused_tools"][0] == f"tool40: an app may have {MAX_TOOLS} tools"
    assert len(added["refused_tools"]) <= MAX_TOOLS
