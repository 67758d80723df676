"""The library as an MCP server, asked by the official client (T19)."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from functions.process_conversation.endpoints import MCP
from functions.process_conversation.mcp_server.rates import MOST_KEPT, PER_MINUTE, KeyRates
from functions.process_conversation.mcp_server.tools import MAX_RESULT_CHARS, TOOLS
from functions.process_conversation.wiring import LibraryDeps
from shared.data.mcp_keys import MAX_KEYS
from shared.domain.errors import TooMany
from shared.edge.http import application
from tests.doubles import FixedClock
from tests.functions.process_conversation.client import BODY, CONVERSATIONS, client_of, deps_of
from tests.functions.process_conversation.world import World

KEYS = "/v1/mcp/keys"
URL = "http://test/v1/mcp"
LISTING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"accept": "application/json, text/event-stream"}


def http_client(world: World, key: str = "") -> httpx2.AsyncClient:
    return client_with(deps_of(world), key)


def client_with(deps: LibraryDeps, key: str) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(application("mcp", MCP, deps))
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx2.AsyncClient(transport=transport, headers=headers)


@asynccontextmanager
async def library(
    world: World, key: str, mode: Literal["auto", "legacy"] = "auto"
) -> AsyncIterator[Client]:
    async with (
        http_client(world, key) as http,
        Client(streamable_http_client(URL, http_client=http), mode=mode) as client,
    ):
        yield client


async def new_key(world: World, uid: str = "alice") -> dict[str, Any]:
    async with client_of(world, uid) as owner:
        answer = await owner.post(KEYS, json={"name": "Editor"})
    assert answer.status_code == 201
    created: dict[str, Any] = answer.json()
    return created


async def posted(world: World, key: str = "", **headers: str) -> httpx2.Response:
    async with http_client(world, key) as http:
        return await http.post(URL, json=LISTING, headers={**ACCEPT, **headers})


async def posted_to(deps: LibraryDeps, key: str) -> httpx2.Response:
    async with client_with(deps, key) as http:
        return await http.post(URL, json=LISTING, headers=ACCEPT)


async def ask(client: Client, name: str, /, **arguments: Any) -> CallToolResult:
    return await client.call_tool(name, arguments)


def text(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def answer(client: Client, name: str, /, **arguments: Any) -> Any:
    result = await ask(client, name, **arguments)
    assert not result.is_error, text(result)
    return json.loads(text(result))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_t19_the_official_client_lists_the_tools_with_what_they_do(world, mode):
    key = (await new_key(world))["key"]

    async with library(world, key, mode) as client:
        tools = (await client.list_tools()).tools

    assert [tool.name for tool in tools] == list(TOOLS)
    update = next(tool for tool in tools if tool.name == "update_action_item")
    assert update.input_schema["required"] == ["action_item_id"]
    assert set(update.input_schema["properties"]) == {
        "action_item_id",
        "description",
        "completed",
        "due_at",
    }
    reads = {tool.name for tool in tools if tool.annotations and tool.annotations.read_only_hint}
    assert reads == {name for name in TOOLS if name.startswith(("get_", "search_"))}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_t19_a_conversation_is_found_and_read(world, alice, mode):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.settle()
    key = (await new_key(world))["key"]

    async with library(world, key, mode) as client:
        found = await answer(client, "search_conversations", query="peanuts")
        read = await answer(client, "get_conversation", conversation_id="talk")
        listed = await answer(client, "get_conversations", limit=1)

    assert [hit["conversation_id"] for hit in found["hits"]] == ["talk"]
    assert read == (await alice.get(f"{CONVERSATIONS}/talk")).json()
    assert [one["id"] for one in listed["conversations"]] == ["talk"]


async def test_t19_what_is_wanted_done_is_written_down_changed_and_completed(world, alice):
    key = (await new_key(world))["key"]

    async with library(world, key) as client:
        item = await answer(client, "create_action_item", description="Call Ann")
        await answer(
            client, "update_action_item", action_item_id=item["id"], due_at="2026-03-09T09:00:00Z"
        )
        await answer(client, "complete_action_item", action_item_id=item["id"], completed=True)
        (listed,) = (await answer(client, "get_action_items"))["action_items"]

    assert listed == (await alice.get(f"/v1/action-items/{item['id']}")).json()
    assert (listed["completed"], listed["due_at"]) == (True, "2026-03-09T09:00:00Z")


async def test_t19_a_memory_is_made_and_found(world):
    key = (await new_key(world))["key"]

    async with library(world, key) as client:
        made = await answer(client, "create_memory", content="Is allergic to peanuts.")
        found = await answer(client, "search_memories", query="peanuts")
        listed = await answer(client, "get_memories")

    assert [one["id"] for one in found] == [one["id"] for one in listed] == [made["id"]]


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("get_conversation", {"conversation_id": "nothing"}, "Conversation not found"),
        ("get_conversation", {"conversation_id": "../../bob"}, "an id is 1 to 64 letters"),
        ("get_conversation", {}, "conversation_id: Input should be a valid string"),
        ("search_conversations", {"query": ""}, "query: String should have at least 1 character"),
        ("get_memories", {"limit": 5_000}, "limit: Input should be less than or equal to 1000"),
        ("delete_everything", {}, "There is no tool 'delete_everything'."),
    ],
)
async def test_t19_a_call_that_cannot_be_answered_says_why(
    world, name: str, arguments: Mapping[str, Any], told: str
):
    key = (await new_key(world))["key"]

    async with library(world, key) as client:
        result = await ask(client, name, **arguments)

    assert result.is_error
    assert told in text(result)


async def test_t19_a_long_answer_is_cut_and_says_so(world, alice):
    said = [{**BODY["transcript_segments"][0], "text": "long " * 1_000}] * 20
    await alice.post(CONVERSATIONS, json={**BODY, "transcript_segments": said})
    key = (await new_key(world))["key"]

    async with library(world, key) as client:
        read = text(await ask(client, "get_conversation", conversation_id="talk"))

    assert len(read) < MAX_RESULT_CHARS + 100
    assert read.endswith("characters left out; ask for less …")


async def test_t19_a_key_opens_the_library_of_its_owner_only(world, alice):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.settle()
    key = (await new_key(world, "bob"))["key"]

    async with library(world, key) as client:
        found = await answer(client, "search_conversations", query="peanuts")
        read = await ask(client, "get_conversation", conversation_id="talk")

    assert found["hits"] == []
    assert read.is_error


async def test_t19_a_key_does_not_open_the_library_of_whom_it_could_name(world):
    key = (await new_key(world, "bob"))["key"]

    refused = await posted(world, key.replace("bob", "alice"))

    assert refused.status_code == 401


@pytest.mark.parametrize(
    "key", ["", "ks_mcp_alice.guessed", "ks_mcp_", "sk_alice.x", "omi_mcp_a/b.x"]
)
async def test_t19_without_a_key_that_is_known_nothing_is_answered(world, key):
    refused = await posted(world, key)

    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"


async def test_t19_a_revoked_key_fails_at_once(world, alice):
    key = await new_key(world)
    assert (await posted(world, key["key"])).status_code == 200

    await alice.delete(f"{KEYS}/{key['id']}")

    assert (await posted(world, key["key"])).status_code == 401
    assert (await alice.get(KEYS)).json() == []


async def test_t19_a_key_works_under_the_old_prefix_too(world):
    key = (await new_key(world))["key"]

    assert (await posted(world, key.replace("ks_mcp_", "omi_mcp_"))).status_code == 200


async def test_t19_a_key_is_shown_once_and_stored_as_a_hash(world, alice):
    key = await new_key(world)

    (listed,) = (await alice.get(KEYS)).json()
    stored = json.dumps(await world.everything(), default=str)

    assert listed == {name: value for name, value in key.items() if name != "key"}
    assert key["key"].partition(".")[2] not in stored


async def test_t19_an_owner_has_a_bounded_number_of_keys(world, alice):
    for _ in range(MAX_KEYS):
        await new_key(world)

    assert (await alice.post(KEYS, json={"name": "One more"})).status_code == 409


async def test_t19_a_page_of_another_origin_may_not_call(world):
    key = (await new_key(world))["key"]

    for origin in ("https://evil.example", "null", "http://[", "test"):
        assert (await posted(world, key, origin=origin)).status_code == 403
    assert (await posted(world, key, origin="http://test")).status_code == 200


async def test_t19_a_key_that_asks_too_often_waits_and_no_other_does(world):
    keys = [(await new_key(world))["key"] for _ in range(2)]
    deps = deps_of(world)

    statuses = [(await posted_to(deps, keys[0])).status_code for _ in range(PER_MINUTE + 1)]
    other = await posted_to(deps, keys[1])
    late = await posted_to(deps, keys[0])
    world.clock.pass_(seconds=1)
    later = await posted_to(deps, keys[0])

    assert statuses == [200] * PER_MINUTE + [429]
    assert (late.status_code, late.headers["retry-after"]) == (429, "1")
    assert (other.status_code, later.status_code) == (200, 200)


def test_t19_of_many_keys_those_used_last_are_remembered_and_no_others():
    rates, now = KeyRates(), FixedClock().now()

    def uses(key: str) -> None:
        for _ in range(PER_MINUTE):
            rates.check(key, now)

    uses("first")
    for n in range(MOST_KEPT):
        rates.check(f"k{n}", now)
    uses("first")

    with pytest.raises(TooMany):
        rates.check("first", now)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_t19_there_are_no_streams_and_no_sessions(world, method):
    key = (await new_key(world))["key"]

    async with http_client(world, key) as http:
        assert (await http.request(method, URL)).status_code == 405


async def test_t19_a_message_is_bounded(world):
    key = (await new_key(world))["key"]
    long = {**LISTING, "params": {"cursor": "x" * 1_100_000}}

    async with http_client(world, key) as http:
        assert (await http.post(URL, json=long, headers=ACCEPT)).status_code == 413
