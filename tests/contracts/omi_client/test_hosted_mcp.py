"""Hosted MCP at /v1/mcp/sse: JSON-RPC as clients of the old product send it, and the official client (R7)."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from tests.contracts.omi_client.phone import Phone
from tests.contracts.omi_client.program import create_key, open_program

SSE = "/v1/mcp/sse"
NEEDED_TOOLS = {
    "get_memories", "create_memory", "delete_memory", "edit_memory", "get_conversations",
    "get_conversation_by_id", "get_conversation", "search_memories", "search_conversations",
    "get_action_items", "search_action_items", "delete_action_item", "get_people", "search",
    "fetch",
}  # fmt: skip
INITIALIZE: dict[str, Any] = {
    "protocolVersion": "2025-03-26",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.fixture
def client(phone: Phone) -> Iterator[Phone]:
    with open_program(phone, create_key(phone)) as client:
        yield client


def build_request(method: str, message_id: int = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}


def post(client: Phone, message: Any, **headers: str) -> httpx.Response:
    return client.http.post(SSE, json=message, headers=headers)


def call(client: Phone, name: str, /, **arguments: Any) -> Any:
    """Call a tool; return what its one text says, as JSON."""
    answer = post(client, build_request("tools/call", name=name, arguments=arguments)).json()
    (content,) = answer["result"]["content"]
    return json.loads(content["text"])


def read_error(client: Phone, method: str, **params: Any) -> tuple[int, str]:
    error = post(client, build_request(method, **params)).json()["error"]
    return error["code"], error["message"]


def begin_session(client: Phone) -> str:
    return post(client, build_request("initialize", **INITIALIZE)).headers["mcp-session-id"]


@pytest.mark.parametrize("version", ["2025-03-26", "2024-11-05", "1999-01-01"])
def test_a_session_begins_with_a_version_that_both_know_r7(client, version):
    answer = post(client, build_request("initialize", **{**INITIALIZE, "protocolVersion": version}))

    assert answer.headers["mcp-session-id"]
    known = version if version != "1999-01-01" else "2025-03-26"
    assert answer.json()["result"]["protocolVersion"] == known
    assert answer.json()["result"]["capabilities"] == {"tools": {"listChanged": False}}


def test_every_needed_tool_is_listed_with_its_schema_r7(client):
    tools = post(client, build_request("tools/list")).json()["result"]["tools"]

    assert {tool["name"] for tool in tools} >= NEEDED_TOOLS
    assert {tool["inputSchema"]["type"] for tool in tools} == {"object"}
    assert all(tool["description"] for tool in tools)


def test_memories_are_written_found_edited_and_deleted_r7(client):
    made = call(client, "create_memory", content="Is allergic to peanuts.", category="core")
    memory_id = made["memory"]["id"]
    edited = call(client, "edit_memory", memory_id=memory_id, content="Is allergic to hazelnuts.")
    by_category = call(client, "get_memories", categories=["core"], limit=10, offset=0)
    by_word = call(client, "search_memories", query="hazelnuts", limit=5)
    deleted = call(client, "delete_memory", memory_id=memory_id)

    assert (made["success"], edited, deleted) == (True, {"success": True}, {"success": True})
    assert by_category["memories"] == by_word["memories"]
    assert by_word["memories"][0]["content"] == "Is allergic to hazelnuts."
    assert call(client, "get_memories") == {"memories": []}


def test_conversations_are_listed_searched_and_read_r7(client, phone):
    conversation = phone.add_conversation()

    day = {"start_date": "2026-03-02", "end_date": "2026-03-02"}
    listed = call(client, "get_conversations", limit=5, offset=0, **day)["conversations"]
    found = call(client, "search_conversations", query="Lisbon offsite", limit=3, **day)
    other_day = call(client, "get_conversations", start_date="2026-03-03")
    whole = call(client, "get_conversation_by_id", conversation_id=conversation["id"])

    assert [item["id"] for item in listed] == [conversation["id"]]
    assert [item["id"] for item in found["conversations"]] == [conversation["id"]]
    assert other_day == {"conversations": []}
    assert "Lisbon" in whole["conversation"]["transcript_segments"][0]["text"]
    assert call(client, "get_conversation", conversation_id=conversation["id"]) == whole


def test_tasks_and_people_are_reached_r7(client, phone):
    person = phone.send("POST", "/v1/users/people", json={"name": "Ann"})
    task = call(client, "create_action_item", description="Water the tulips")["action_item"]
    found = call(client, "search_action_items", query="tulips")["action_items"]
    deleted = call(client, "delete_action_item", action_item_id=task["id"])

    assert [item["id"] for item in found] == [task["id"]]
    assert deleted == {"success": True}
    assert call(client, "get_action_items") == {"action_items": []}
    assert call(client, "get_people") == {
        "people": [{"id": person["id"], "name": "Ann", "role": ""}]
    }


def test_search_and_fetch_answer_as_connectors_ask_r7(client, phone):
    conversation = phone.add_conversation()
    call(client, "create_memory", content="Goes to the Lisbon offsite.", category="work")

    results = call(client, "search", query="Lisbon offsite")["results"]
    documents = [call(client, "fetch", id=result["id"]) for result in results]

    assert [set(result) for result in results] == [{"id", "title", "url"}] * 2
    assert [set(d) for d in documents] == [{"id", "title", "text", "url", "metadata"}] * 2
    assert results[0]["id"] == f"conversation:{conversation['id']}"
    assert "Ann brings the plans" in documents[0]["text"]
    assert documents[1]["text"] == "Goes to the Lisbon offsite."
    error = read_error(client, "tools/call", name="fetch", arguments={"id": "memory:gone"})
    assert error == (-32001, "Memory not found")


def test_a_list_of_messages_is_answered_with_a_list_r7(client):
    sent = [build_request("ping", 7), {"jsonrpc": "2.0", "method": "notifications/initialized"}]

    assert post(client, sent).json() == [{"jsonrpc": "2.0", "id": 7, "result": {}}]


def test_notifications_alone_are_accepted_without_an_answer_r7(client):
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}

    for sent in (notification, [notification, notification]):
        answer = post(client, sent)
        assert (answer.status_code, answer.content) == (202, b"")


def test_a_client_that_reads_events_gets_one_for_each_answer_r7(client):
    sent = [build_request("ping", 1), build_request("ping", 2)]

    answer = post(client, sent, accept="application/json, text/event-stream")

    assert answer.headers["content-type"].startswith("text/event-stream")
    frames = answer.text.strip().split("\n\n")
    assert [frame.split("\n")[0] for frame in frames] == ["event: message"] * 2
    answers = [json.loads(frame.split("\n")[1].removeprefix("data: ")) for frame in frames]
    assert [one["id"] for one in answers] == [1, 2]


def test_errors_have_the_codes_that_clients_know_r7(client):
    bad_call = {"name": "get_memories", "arguments": {"limit": "many"}}
    gone = {"name": "get_conversation_by_id", "arguments": {"conversation_id": "gone"}}

    assert read_error(client, "resources/list") == (-32601, "Method not found")
    assert read_error(client, "tools/call", **bad_call)[0] == -32602
    assert read_error(client, "tools/call", name="no_such_tool")[0] == -32602
    assert read_error(client, "tools/call", **gone) == (-32001, "Conversation not found")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b"1", -32600),
        (b'{"id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": ["ping"]}', -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 3}}', -32602),
        (b"[" + b",".join([b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'] * 21) + b"]", -32600),
    ],
)
def test_a_malformed_message_is_an_error_and_no_crash_r7(client, body, code):
    answer = client.http.post(SSE, content=body)

    errors = answer.json() if isinstance(answer.json(), list) else [answer.json()]
    assert (answer.status_code, [one["error"]["code"] for one in errors]) == (200, [code])


def test_a_failing_tool_names_its_reason_r7(phone):
    with open_program(phone, create_key(phone, scope="read")) as reader:
        code, message = read_error(
            reader, "tools/call", name="create_memory", arguments={"content": "x"}
        )

    assert (code, message[:22]) == (-32000, "This key may only read")


def test_a_session_ends_and_is_nobody_elses_r7(sign_up, client):
    other = sign_up()
    session_id = begin_session(client)

    with open_program(other, create_key(other)) as stranger:
        theirs = [
            stranger.http.request(method, SSE, headers={"Mcp-Session-Id": session_id}).status_code
            for method in ("DELETE", "GET")
        ]
    deleted = [
        client.http.delete(SSE, headers=headers).status_code
        for headers in ({}, {"Mcp-Session-Id": session_id}, {"Mcp-Session-Id": session_id})
    ]

    assert theirs == [403, 403]
    assert deleted == [400, 204, 404]
    assert post(client, build_request("ping"), **{"Mcp-Session-Id": session_id}).status_code == 404
    assert post(client, build_request("ping"), **{"Mcp-Session-Id": "made-up"}).status_code == 404


def test_a_key_is_taken_with_and_without_bearer_r7(phone):
    key = create_key(phone)
    with httpx.Client(base_url=phone.http.base_url, timeout=30) as http:
        for header, status in ((key, 200), (f"bearer {key}", 200), (f"Basic {key}", 401)):
            answer = http.post(SSE, json=build_request("ping"), headers={"authorization": header})
            assert answer.status_code == status
        refused = http.post(SSE, json=build_request("ping"))

    message = "Invalid or missing API key. Provide via Authorization header."
    assert (refused.status_code, refused.json()["detail"]) == (401, message)


def test_the_server_describes_itself_without_a_key_r7(phone):
    with httpx.Client(base_url=phone.http.base_url, timeout=30) as http:
        described = http.get(f"{SSE}/info").json()

    assert set(described["tools"]) >= NEEDED_TOOLS
    assert described["protocol_version"] == "2025-03-26"


def test_the_stream_of_a_session_pings_r7(client):
    headers = {"Mcp-Session-Id": begin_session(client), "accept": "text/event-stream"}

    with client.http.stream("GET", SSE, headers=headers) as stream:
        assert next(stream.iter_lines()) == ": ping"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_calls_tools_over_streamable_http_r7(phone, mode):
    conversation = phone.add_conversation()
    headers = {"Authorization": f"Bearer {create_key(phone)}"}
    url = f"{phone.http.base_url}{SSE}"

    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        names = {tool.name for tool in (await client.list_tools()).tools}
        result = await client.call_tool("search_conversations", {"query": "Lisbon"})

    (content,) = result.content
    assert isinstance(content, TextContent)
    assert names >= NEEDED_TOOLS
    assert json.loads(content.text)["conversations"][0]["id"] == conversation["id"]


async def test_the_official_client_calls_tools_over_the_older_transport_r7(phone):
    conversation = phone.add_conversation()
    headers = {"Authorization": f"Bearer {create_key(phone)}"}
    url = f"{phone.http.base_url}{SSE}"

    async with Client(sse_client(url, headers=headers), mode="legacy") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        result = await client.call_tool("search_conversations", {"query": "Lisbon"})

    (content,) = result.content
    assert isinstance(content, TextContent)
    assert names >= NEEDED_TOOLS
    assert json.loads(content.text)["conversations"][0]["id"] == conversation["id"]


def test_a_stream_takes_messages_of_its_own_user_alone_r7(sign_up, client):
    other = sign_up()
    with (
        client.http.stream("GET", SSE, headers={"accept": "text/event-stream"}) as stream,
        open_program(other, create_key(other)) as stranger,
    ):
        lines = stream.iter_lines()
        event, data = next(lines), next(lines)
        path = data.removeprefix("data: ")
        foreign = stranger.http.post(path, json=build_request("ping")).status_code
        own = client.http.post(path, json=build_request("ping", 5)).status_code
        next(lines)
        answer = [next(lines), next(lines)]

    assert (event, foreign, own) == ("event: endpoint", 403, 202)
    assert answer[0] == "event: message"
    assert json.loads(answer[1].removeprefix("data: ")) == {
        "jsonrpc": "2.0",
        "id": 5,
        "result": {},
    }
