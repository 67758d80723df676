"""MCP server of the library, called by the official client (T19)."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Literal

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from functions.library.programs.mcp_server.library_tool import MAX_RESULT_CHARS
from functions.library.programs.mcp_server.routes import MCP_ROUTES
from functions.library.programs.mcp_server.tools import TOOLS
from shared.data.account.api_keys import MAX_KEYS
from shared.domain.errors import TooMany
from shared.domain.store.documents import Set
from shared.edge.serve.http import build_application
from shared.library.deps import LibraryDeps
from shared.resilience.key_rate_limiter import (
    MAX_PER_MINUTE,
    MAX_TRACKED_KEYS,
    KeyRateLimiter,
)
from tests.fakes import FixedClock
from tests.fixtures.library import (
    BODY,
    CONVERSATIONS,
    build_client,
    build_library_deps,
)
from tests.fixtures.processing import ProcessingFixture

KEYS = "/v1/mcp/keys"
URL = "http://test/v1/mcp"
LISTING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"accept": "application/json, text/event-stream"}


def build_http_client(world: ProcessingFixture, key: str = "") -> httpx2.AsyncClient:
    return build_client_with_key(build_library_deps(world), key)


def build_client_with_key(deps: LibraryDeps, key: str) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(build_application("mcp", MCP_ROUTES, deps))
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx2.AsyncClient(transport=transport, headers=headers)


@asynccontextmanager
async def open_library(
    world: ProcessingFixture, key: str, mode: Literal["auto", "legacy"] = "auto"
) -> AsyncIterator[Client]:
    async with (
        build_http_client(world, key) as http,
        Client(streamable_http_client(URL, http_client=http), mode=mode) as client,
    ):
        yield client


async def create_key(
    world: ProcessingFixture, uid: str = "alice", **options: Any
) -> dict[str, Any]:
    async with build_client(world, uid) as owner:
        answer = await owner.post(KEYS, json={"name": "Editor", **options})
    assert answer.status_code == 200
    created: dict[str, Any] = answer.json()
    return created


async def post_listing(world: ProcessingFixture, key: str = "", **headers: str) -> httpx2.Response:
    async with build_http_client(world, key) as http:
        return await http.post(URL, json=LISTING, headers={**ACCEPT, **headers})


async def post_listing_to(deps: LibraryDeps, key: str) -> httpx2.Response:
    async with build_client_with_key(deps, key) as http:
        return await http.post(URL, json=LISTING, headers=ACCEPT)


async def call_tool(client: Client, name: str, /, **arguments: Any) -> CallToolResult:
    return await client.call_tool(name, arguments)


def read_text(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def call_tool_for_json(client: Client, name: str, /, **arguments: Any) -> Any:
    result = await call_tool(client, name, **arguments)
    assert not result.is_error, read_text(result)
    return json.loads(read_text(result))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_lists_the_tools_with_what_they_do_t19(world, mode):
    key = (await create_key(world))["key"]

    async with open_library(world, key, mode) as client:
        tools = (await client.list_tools()).tools

    assert [tool.name for tool in tools] == list(TOOLS)
    update = next(tool for tool in tools if tool.name == "update_action_item")
    assert update.input_schema["required"] == ["action_item_id"]
    assert set(update.input_schema["properties"]) == {
        "action_item_id",
        "description",
        "completed",
        "due_at",
        "owner",
        "owner_name",
    }
    reads = {tool.name for tool in tools if tool.annotations and tool.annotations.read_only_hint}
    assert reads == {name for name in TOOLS if name.startswith(("get_", "search", "fetch"))}
    deletes = {t.name for t in tools if t.annotations and t.annotations.destructive_hint}
    assert deletes == {"delete_memory", "delete_action_item"}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_conversation_is_found_and_read_t19(world, alice, mode):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()
    key = (await create_key(world))["key"]

    async with open_library(world, key, mode) as client:
        result = await call_tool_for_json(client, "search_conversations", query="peanuts")
        whole = await call_tool_for_json(client, "get_conversation_by_id", conversation_id="talk")
        page = await call_tool_for_json(client, "get_conversations", limit=1)

    ((found,), conversation) = (result["conversations"], whole["conversation"])
    (segment,) = conversation.pop("transcript_segments")
    assert "peanuts" in found.pop("passages")[0]["text"]
    assert page["conversations"] == [found] == [conversation]
    assert (segment["speaker_id"], segment["start"], segment["end"]) == (0, 0.0, 4.5)


async def test_an_action_item_is_created_changed_and_completed_t19(world, alice):
    key = (await create_key(world))["key"]

    async with open_library(world, key) as client:
        created = await call_tool_for_json(client, "create_action_item", description="Call Ann")
        item = created["action_item"]
        await call_tool_for_json(
            client, "update_action_item", action_item_id=item["id"], due_at="2026-03-09T09:00:00Z"
        )
        await call_tool_for_json(
            client, "complete_action_item", action_item_id=item["id"], completed=True
        )
        (listed_item,) = (await call_tool_for_json(client, "get_action_items"))["action_items"]

    stored_item = (await alice.get(f"/v1/action-items/{item['id']}")).json()
    assert listed_item == {name: stored_item[name] for name in listed_item}
    assert (listed_item["completed"], listed_item["due_at"]) == (True, "2026-03-09T09:00:00Z")


async def test_a_memory_is_created_and_found_t19(world):
    key = (await create_key(world))["key"]

    async with open_library(world, key) as client:
        created = await call_tool_for_json(
            client, "create_memory", content="Is allergic to peanuts.", category="core"
        )
        search_hits = await call_tool_for_json(client, "search_memories", query="peanuts")
        listed_memories = await call_tool_for_json(client, "get_memories")

    memory = created["memory"]
    assert search_hits["memories"] == listed_memories["memories"] == [memory]
    assert (memory["content"], created["success"]) == ("Is allergic to peanuts.", True)


async def test_what_a_program_writes_is_not_called_its_owners_words_g3(world, alice):
    key = (await create_key(world))["key"]
    own = (
        await alice.post("/v3/memories", json={"id": "own", "content": "Banks at Sparkasse."})
    ).json()
    own_task = (
        await alice.post("/v1/action-items", json={"id": "own", "description": "Call Ann"})
    ).json()

    async with open_library(world, key) as client:
        await call_tool_for_json(client, "create_memory", content="Eve is the lawyer.")
        await call_tool_for_json(
            client, "edit_memory", memory_id=own["id"], content="Banks at Eve Bank."
        )
        await call_tool_for_json(client, "create_action_item", description="Pay Eve")
        await call_tool_for_json(
            client, "update_action_item", action_item_id=own_task["id"], description="Call Eve"
        )

    memories = (await alice.get("/v3/memories")).json()
    tasks = (await alice.get("/v1/action-items")).json()["action_items"]
    assert {
        (memory["content"], memory["category"], memory["manually_added"], *memory["read_kinds"])
        for memory in memories
    } == {
        ("Eve is the lawyer.", "system", False, "app"),
        ("Banks at Eve Bank.", "system", False, "app"),
    }
    assert {task["description"]: task["read_kinds"] for task in tasks} == {
        "Pay Eve": ["app"],
        "Call Eve": ["app"],
    }


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_conversations", {"limit": None, "offset": None, "categories": None}),
        ("search_conversations", {"query": "peanuts", "start_date": "", "limit": None}),
        ("get_memories", {"limit": "", "categories": ""}),
        ("get_action_items", {"owner": None, "completed": None, "offset": None}),
        ("create_memory", {"content": "Likes tea.", "category": ""}),
    ],
)
async def test_optional_arguments_that_say_nothing_are_absent_w43(
    world, name: str, arguments: Mapping[str, Any]
):
    key = (await create_key(world))["key"]

    async with open_library(world, key) as client:
        result = await call_tool(client, name, **arguments)

    assert not result.is_error, read_text(result)


async def test_null_still_removes_the_date_of_a_task_w43(world):
    key = (await create_key(world))["key"]
    due_at = "2026-03-09T09:00:00Z"

    async with open_library(world, key) as client:
        created = await call_tool_for_json(
            client, "create_action_item", description="Call Ann", due_at=due_at
        )
        change = partial(
            call_tool_for_json,
            client,
            "update_action_item",
            action_item_id=created["action_item"]["id"],
        )
        renamed = await change(description="Call Bo", due_at="")
        cleared = await change(due_at=None)

    assert renamed["action_item"]["due_at"] == due_at
    assert cleared["action_item"]["due_at"] is None


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("get_conversation", {"conversation_id": "nothing"}, "Conversation not found"),
        (
            "get_conversation",
            {"conversation_id": "../../bob"},
            "The conversation id must be 1 to 64 letters",
        ),
        ("get_conversation", {}, "The conversation id must be given"),
        ("search_conversations", {"query": ""}, "The query must not be empty"),
        ("get_memories", {"limit": 5_000}, "The limit must be at most 1000"),
        ("delete_everything", {}, "There is no tool 'delete_everything'."),
    ],
)
async def test_an_invalid_tool_call_returns_its_reason_t19(
    world, name: str, arguments: Mapping[str, Any], reason: str
):
    key = (await create_key(world))["key"]

    async with open_library(world, key) as client:
        result = await call_tool(client, name, **arguments)

    assert result.is_error
    assert reason in read_text(result)


async def test_a_long_result_is_truncated_with_a_notice_t19(world, alice):
    segments = [{**BODY["transcript_segments"][0], "text": "long " * 1_000}] * 20
    await alice.post(CONVERSATIONS, json={**BODY, "transcript_segments": segments})
    key = (await create_key(world))["key"]

    async with open_library(world, key) as client:
        result_text = read_text(await call_tool(client, "get_conversation", conversation_id="talk"))

    assert len(result_text) < MAX_RESULT_CHARS + 100
    assert result_text.endswith("characters left out; ask for less …")


async def test_a_key_that_may_only_read_is_offered_no_tool_that_writes_t19(world):
    key = (await create_key(world, scope="read"))["key"]

    async with open_library(world, key) as client:
        tools = (await client.list_tools()).tools
        result = await call_tool(client, "create_memory", content="Likes trains.")
        memories = await call_tool_for_json(client, "get_memories")

    assert [tool.name for tool in tools] == [name for name in TOOLS if TOOLS[name].is_read_only]
    assert (result.is_error, read_text(result)[:22]) == (True, "This key may only read")
    assert memories == {"memories": []}


async def test_a_key_ends_on_its_day_t19(world):
    short, usual = await create_key(world, expires_in_days=1), await create_key(world)

    world.clock.advance(hours=23)
    before = (await post_listing(world, short["key"])).status_code
    world.clock.advance(hours=1)
    after = await post_listing(world, short["key"])

    assert (before, after.status_code) == (200, 401)
    assert after.json()["detail"] == "This key has expired; create another one."
    assert (await post_listing(world, usual["key"])).status_code == 200
    assert usual["expires_at"][:4] == str(int(usual["created_at"][:4]) + 1)


async def test_a_key_of_before_has_no_end_and_writes_t19(world):
    created = await create_key(world)
    path = f"users/alice/mcp_keys/{created['id']}"
    document = await world.documents.get(path)
    fields = {name: document.fields[name] for name in ("name", "label", "created_at")}
    await world.documents.write(Set(path, fields))
    world.clock.advance(hours=24 * 4_000)

    async with open_library(world, created["key"]) as client:
        assert len((await client.list_tools()).tools) == len(TOOLS)


@pytest.mark.parametrize(
    "options", [{"expires_in_days": 0}, {"expires_in_days": 367}, {"scope": "all"}]
)
async def test_a_key_without_a_sensible_end_or_scope_is_refused_t19(alice, options):
    assert (await alice.post(KEYS, json={"name": "Editor", **options})).status_code == 422


async def test_a_key_opens_the_library_of_its_owner_only_t19(world, alice):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()
    key = (await create_key(world, "bob"))["key"]

    async with open_library(world, key) as client:
        search_result = await call_tool_for_json(client, "search_conversations", query="peanuts")
        read_result = await call_tool(client, "get_conversation", conversation_id="talk")

    assert search_result["conversations"] == []
    assert read_result.is_error


async def test_a_key_with_another_users_id_in_it_is_refused_t19(world):
    key = (await create_key(world, "bob"))["key"]

    response = await post_listing(world, key.replace("bob", "alice"))

    assert response.status_code == 401


@pytest.mark.parametrize(
    "key", ["", "ks_mcp_alice.guessed", "ks_mcp_", "sk_alice.x", "omi_mcp_a/b.x"]
)
async def test_a_request_without_a_valid_key_is_401_t19(world, key):
    response = await post_listing(world, key)

    assert response.status_code == 401
    assert response.headers["www-authenticate"].startswith("Bearer resource_metadata=")


async def test_a_revoked_key_fails_at_once_t19(world, alice):
    key = await create_key(world)
    assert (await post_listing(world, key["key"])).status_code == 200

    await alice.delete(f"{KEYS}/{key['id']}")

    assert (await post_listing(world, key["key"])).status_code == 401
    assert (await alice.get(KEYS)).json() == []


async def test_a_key_works_under_the_old_prefix_too_t19(world):
    key = (await create_key(world))["key"]

    assert (await post_listing(world, key.replace("ks_mcp_", "omi_mcp_"))).status_code == 200


async def test_a_key_is_shown_once_and_stored_as_a_hash_t19(world, alice):
    key = await create_key(world)

    (listed_key,) = (await alice.get(KEYS)).json()
    stored_text = json.dumps(await world.load_everything(), default=str)

    assert listed_key == {name: value for name, value in key.items() if name != "key"}
    assert key["key"].partition(".")[2] not in stored_text


async def test_an_owner_has_a_bounded_number_of_keys_t19(world, alice):
    for _ in range(MAX_KEYS):
        await create_key(world)

    assert (await alice.post(KEYS, json={"name": "One more"})).status_code == 409


async def test_a_page_of_another_origin_may_not_call_t19(world):
    key = (await create_key(world))["key"]

    for origin in ("https://evil.example", "null", "http://[", "test"):
        assert (await post_listing(world, key, origin=origin)).status_code == 403
    assert (await post_listing(world, key, origin="http://test")).status_code == 200


async def test_the_rate_limit_applies_to_each_key_alone_t19(world):
    keys = [(await create_key(world))["key"] for _ in range(2)]
    deps = build_library_deps(world)

    statuses = [
        (await post_listing_to(deps, keys[0])).status_code for _ in range(MAX_PER_MINUTE + 1)
    ]
    other_key_response = await post_listing_to(deps, keys[1])
    refused_response = await post_listing_to(deps, keys[0])
    world.clock.advance(seconds=1)
    later_response = await post_listing_to(deps, keys[0])

    assert statuses == [200] * MAX_PER_MINUTE + [429]
    assert (refused_response.status_code, refused_response.headers["retry-after"]) == (429, "1")
    assert (other_key_response.status_code, later_response.status_code) == (200, 200)


def test_the_rate_limiter_keeps_the_most_recently_used_keys_t19():
    limiter, now = KeyRateLimiter(), FixedClock().now()

    def use_up(key: str) -> None:
        for _ in range(MAX_PER_MINUTE):
            limiter.check(key, now)

    use_up("first")
    for n in range(MAX_TRACKED_KEYS):
        limiter.check(f"k{n}", now)
    use_up("first")

    with pytest.raises(TooMany):
        limiter.check("first", now)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_there_are_no_streams_and_no_sessions_t19(world, method):
    key = (await create_key(world))["key"]

    async with build_http_client(world, key) as http:
        assert (await http.request(method, URL)).status_code == 405


async def test_a_too_large_message_is_413_t19(world):
    key = (await create_key(world))["key"]
    long = {**LISTING, "params": {"cursor": "x" * 1_100_000}}

    async with build_http_client(world, key) as http:
        assert (await http.post(URL, json=long, headers=ACCEPT)).status_code == 413
