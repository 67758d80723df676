"""Calls of Omi's public MCP server, as it sends them by the key of an MCP client (R7).

It reads JSON from every answer, refusals too.
"""

from collections.abc import Iterator

import httpx
import pytest

from tests.contracts.omi_client.phone import Phone
from tests.contracts.omi_client.program import create_key, open_program
from tests.contracts.omi_client.readers import (
    double,
    each,
    integer,
    one_of,
    optional,
    shape,
    text,
    time,
)

MEMORY = shape(id=text, content=text, category=text)
CONVERSATION = shape(
    id=text,
    started_at=time,
    finished_at=time,
    structured=shape(title=text, overview=text, category=text),
    language=text,
)
SEGMENT = shape(
    id=text, text=text, speaker_id=integer, speaker_name=optional(text), start=double, end=double
)
OK = shape(status=one_of("ok"))
OFFERED_CATEGORIES = (
    "core", "hobbies", "lifestyle", "interests", "habits", "work", "skills", "learnings", "other",
)  # fmt: skip


@pytest.fixture
def server(phone: Phone) -> Iterator[Phone]:
    with open_program(phone, create_key(phone)) as server:
        yield server


def add_memory(server: Phone, content: str, category: str = "core") -> str:
    body = {"content": content, "category": category}
    memory_id: str = server.send("POST", "/v1/mcp/memories", json=body)["id"]
    return memory_id


@pytest.mark.parametrize("category", OFFERED_CATEGORIES)
def test_a_memory_of_every_offered_category_is_taken_and_listed_r7(server, category):
    reader = shape(id=text, content=text, category=text, visibility=text, tags=each(text))
    body = {"content": f"Knows about {category}.", "category": category}

    made = server.send("POST", "/v1/mcp/memories", reader, json=body)

    listed = server.get("/v1/mcp/memories", each(MEMORY), limit=100, offset=0, categories=category)
    assert [memory["id"] for memory in listed] == [made["id"]]


def test_memories_are_paged_newest_first_r7(server):
    ids = [add_memory(server, f"Fact number {n}.") for n in range(3)]

    pages = [
        server.get("/v1/mcp/memories", each(MEMORY), limit=2, offset=offset) for offset in (0, 2, 9)
    ]

    assert [[memory["id"] for memory in page] for page in pages] == [[ids[2], ids[1]], [ids[0]], []]


def test_an_unknown_category_is_refused_r7(server):
    for path in ("memories", "conversations"):
        status, _ = server.refuse("GET", f"/v1/mcp/{path}", params={"categories": "work,nonsense"})
        assert status == 400


def test_a_memory_is_edited_and_deleted_with_an_answer_in_json_r7(server, phone):
    memory_id = add_memory(server, "Likes trains.")
    path = f"/v1/mcp/memories/{memory_id}"

    server.send("PATCH", path, OK, params={"value": "Likes night trains."})
    (edited,) = phone.get("/v3/memories", offset=0)
    server.send("DELETE", path, OK)

    assert edited["content"] == "Likes night trains."
    assert phone.get("/v3/memories", offset=0) == []
    for method, query in (("PATCH", {"value": "x"}), ("DELETE", {})):
        assert server.refuse(method, path, params=query) == (404, "Memory not found")


def test_conversations_are_listed_by_day_and_category_and_read_r7(server, phone):
    conversation = phone.add_conversation()
    category = conversation["structured"]["category"]

    queries = (
        {"limit": 20, "offset": 0},
        {"start_date": "2026-03-02T00:00:00", "end_date": "2026-03-03T00:00:00"},
        {"categories": f"{category},travel"},
        {"start_date": "2026-03-03T00:00:00"},
        {"end_date": "2026-03-02T00:00:00"},
        {"categories": "weather"},
        {"offset": 1},
    )
    listed = [server.get("/v1/mcp/conversations", each(CONVERSATION), **query) for query in queries]
    whole = server.get(f"/v1/mcp/conversations/{conversation['id']}")

    assert [len(found) for found in listed] == [1, 1, 1, 0, 0, 0, 0]
    assert CONVERSATION(whole) == listed[0][0]
    (segment,) = each(SEGMENT)(whole["transcript_segments"])
    assert (segment["speaker_id"], segment["end"]) == (0, 9.5)
    assert server.refuse("GET", "/v1/mcp/conversations/gone") == (404, "Conversation not found")


def test_a_discarded_conversation_is_not_listed_r7(server, phone):
    silence = [{"text": "Hm.", "speaker": "SPEAKER_00", "is_user": True, "start": 0, "end": 1}]
    conversation = phone.add_conversation(transcript_segments=silence)

    assert conversation["discarded"]
    assert server.get("/v1/mcp/conversations") == []


def test_the_packaged_server_sends_the_key_in_a_header_of_its_own_r7(phone):
    key = create_key(phone)

    with httpx.Client(base_url=phone.http.base_url, headers={"uid": key}, timeout=30) as http:
        assert http.get("/v1/mcp/memories").json() == []
        assert http.get("/v1/mcp/memories", headers={"uid": phone.uid}).status_code == 401


def test_a_key_that_may_only_read_changes_nothing_r7(phone):
    with open_program(phone, create_key(phone, scope="read")) as reader:
        assert reader.get("/v1/mcp/memories") == []
        status, detail = reader.refuse("POST", "/v1/mcp/memories", json={"content": "x"})
        assert (status, detail[:22]) == (403, "This key may only read")
        for method in ("PATCH", "DELETE"):
            assert reader.refuse(method, "/v1/mcp/memories/m?value=x")[0] == 403


def test_a_key_opens_its_own_library_alone_and_for_as_long_as_it_is_there_r7(sign_up):
    ann, bob = sign_up(), sign_up()
    conversation = ann.add_conversation()
    key = bob.send("POST", "/v1/mcp/keys", json={"name": "Script"})

    with open_program(bob, key["key"]) as server:
        assert server.get("/v1/mcp/conversations") == []
        assert server.refuse("GET", f"/v1/mcp/conversations/{conversation['id']}")[0] == 404
        bob.send("DELETE", f"/v1/mcp/keys/{key['id']}", status=204, json={})
        assert server.refuse("GET", "/v1/mcp/conversations")[0] == 401


def test_a_key_is_no_token_of_the_app_and_a_token_no_key_r7(phone):
    token = phone.http.headers["authorization"].removeprefix("Bearer ")

    with open_program(phone, token) as app:
        assert app.refuse("GET", "/v1/mcp/memories")[0] == 401
    with open_program(phone, create_key(phone)) as server:
        for path in ("/v3/memories", "/v1/mcp/keys", "/v1/dev/user/memories"):
            assert server.refuse("GET", path)[0] in (401, 404)
