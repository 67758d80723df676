"""Ciphertexts of sealed chats: stored as they came, by version, and read in three phases (M87)."""

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from functions.chat.sealed.sync import CHATS_PER_PAGE, MESSAGES_PER_PAGE, RECENT_CHATS
from shared.data.chats.sealed_chats import MAX_CHATS
from shared.data.chats.sync_cache import MAX_CACHED
from shared.data.store.codec import dump
from shared.domain.chats.sealed_chat import SealedChat
from shared.domain.ids import SessionId
from shared.domain.store.documents import Query, Set
from tests.fakes import CountingDocuments
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.sealed_client import (
    begin,
)
from tests.functions.chat.test_message_routes import open_chat

START = datetime(2026, 3, 2, tzinfo=UTC)


def encode(content: bytes) -> str:
    """Return what looks like a ciphertext of a client."""
    return base64.b64encode(b"\x01" + content.ljust(28, b"\0")).decode()


def build_message(chat_id: str, number: int, content: bytes = b"", **fields: Any) -> dict[str, Any]:
    return {
        "id": f"{chat_id}-{number:04d}",
        "created_at": (START + timedelta(seconds=number)).isoformat(),
        "version": 1,
        "ciphertext": encode(content or b"message %d" % number),
        **fields,
    }


async def put(http: httpx.AsyncClient, chat_id: str, **body: Any) -> httpx.Response:
    return await http.put(f"/v2/chat-sessions/{chat_id}/ciphertexts", json=body)


async def read(http: httpx.AsyncClient, chat_id: str, **params: Any) -> dict[str, Any]:
    answer = await http.get(f"/v2/chat-sessions/{chat_id}/ciphertexts", params=params)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def sync(http: httpx.AsyncClient, phase: int, cursor: str | None = None) -> dict[str, Any]:
    params: dict[str, str | int] = {"phase": phase, **({"cursor": cursor} if cursor else {})}
    answer = await http.get("/v2/sync", params=params)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def sync_all(
    http: httpx.AsyncClient, phase: int, cursor: str | None = None
) -> tuple[list[dict[str, Any]], str | None]:
    """Return what all pages of a phase list, and its last cursor."""
    chats: list[dict[str, Any]] = []
    while True:
        page = await sync(http, phase, cursor)
        chats += page["chats"]
        cursor = page["cursor"]
        if page["is_complete"]:
            return chats, cursor


def list_ids(chats: list[dict[str, Any]]) -> list[str]:
    return [synced["chat"]["id"] for synced in chats]


async def test_ciphertexts_come_back_byte_for_byte_m82(world: ChatFixture) -> None:
    every_byte = bytes(range(256)) * 4
    async with open_chat(world.deps()) as http:
        chat_id = await begin(http)
        messages = [build_message(chat_id, 1, every_byte), build_message(chat_id, 2)]
        chat = {"version": 1, "ciphertext": encode(b"title")}
        stored = await put(http, chat_id, chat=chat, messages=messages)
        body = await read(http, chat_id)

    assert stored.status_code == 200, stored.text
    assert body["chat"]["ciphertext"] == chat["ciphertext"]
    assert body["chat"]["message_count"] == 2
    shown = [{**m, "created_at": datetime.fromisoformat(m["created_at"])} for m in body["messages"]]
    sent = [{**m, "created_at": datetime.fromisoformat(m["created_at"])} for m in messages]
    assert shown == sent


async def test_each_version_follows_the_one_before_m82(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        chat_id = await begin(http)
        first = build_message(chat_id, 1)
        second = {**first, "version": 2, "ciphertext": encode(b"edited")}
        statuses = [
            (await put(http, chat_id, messages=[message])).status_code
            for message in (
                {**first, "version": 2},
                first,
                first,
                {**first, "ciphertext": encode(b"another")},
                second,
                first,
                {**second, "version": 3, "ciphertext": None},
            )
        ]
        body = await read(http, chat_id)

    assert statuses == [409, 200, 200, 409, 200, 409, 200]
    assert [(m["version"], m["ciphertext"]) for m in body["messages"]] == [(3, None)]


async def test_all_or_nothing_is_stored_m82(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        chat_id = await begin(http)
        wrong = build_message(chat_id, 2, version=5)
        refused = await put(http, chat_id, messages=[build_message(chat_id, 1), wrong])
        body = await read(http, chat_id)

    assert refused.status_code == 409
    assert f"Version 0 of message '{chat_id}-0002' is stored" in refused.text
    assert body["messages"] == []


@pytest.mark.parametrize(
    ("ciphertext", "reason"),
    [
        ("no base64!", "no base64"),
        ("", "no ciphertext of format 1"),
        (base64.b64encode(b"\x02" + bytes(40)).decode(), "no ciphertext of format 1"),
        (base64.b64encode(b"\x01" + bytes(27)).decode(), "no ciphertext of format 1"),
        (base64.b64encode(b"\x01" + bytes(262_144)).decode(), "at most 256 KB"),
    ],
)
async def test_what_no_client_wrote_is_refused_m82(
    world: ChatFixture, ciphertext: str, reason: str
) -> None:
    async with open_chat(world.deps()) as http:
        chat_id = await begin(http)
        message = build_message(chat_id, 1, ciphertext=ciphertext)
        answer = await put(http, chat_id, messages=[message])

    assert answer.status_code == 422
    assert reason in answer.text


async def test_too_much_at_once_is_refused_m82(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        chat_id = await begin(http)
        messages = [build_message(chat_id, n, b"x" * 262_000) for n in range(17)]
        answer = await put(http, chat_id, messages=messages)
        body = await read(http, chat_id)

    assert answer.status_code == 413
    assert "more than 4 MB in all" in answer.text
    assert body["messages"] == []


async def test_messages_belong_to_their_chat_m82(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        chat_id, other = await begin(http), await begin(http)
        foreign = await put(http, chat_id, messages=[build_message(other, 1)])
        twice = await put(http, chat_id, messages=[build_message(chat_id, 1)] * 2)
        managed = await put(http, "main", messages=[build_message("main", 1)])
        unknown = await put(http, "sealed-none", messages=[build_message("sealed-none", 1)])
    async with open_chat(world.deps(), EVE) as stranger:
        foreign_chat = await put(stranger, chat_id, messages=[build_message(chat_id, 1)])

    answers = [foreign, twice, managed, unknown, foreign_chat]
    assert [answer.status_code for answer in answers] == [422, 422, 422, 404, 404]


async def test_the_phases_read_the_last_chat_then_the_recent_then_all_m87(
    world: ChatFixture,
) -> None:
    async with open_chat(world.deps()) as http:
        chats, deleted = [], []
        for number in range(RECENT_CHATS + 5):
            world.clock.advance(seconds=1)
            chats.append(await begin(http))
            if number % 50 == 0:
                await put(http, chats[-1], messages=[build_message(chats[-1], 1)])
        last, _ = await sync_all(http, 1)
        everything, _ = await sync_all(http, 3)
        for _ in range(CHATS_PER_PAGE + 1):
            world.clock.advance(seconds=1)
            deleted.append(await begin(http))
            await http.delete(f"/v2/chat-sessions/{deleted[-1]}")
        recent, _ = await sync_all(http, 2)

    assert list_ids(last) == [chats[-1]]
    assert list_ids(recent) == [*deleted[::-1], *chats[::-1][:RECENT_CHATS]]
    assert all(synced["messages"] == [] for synced in recent)
    assert list_ids(everything) == chats
    assert [len(synced["messages"]) for synced in everything[:51]] == [1, *[0] * 49, 1]


async def test_a_long_chat_goes_on_in_the_next_page_m87(world: ChatFixture) -> None:
    count = 2 * MESSAGES_PER_PAGE + 5
    async with open_chat(world.deps()) as http:
        chat_id = await begin(http)
        for start in range(0, count, 40):
            numbers = range(start, min(start + 40, count))
            await put(http, chat_id, messages=[build_message(chat_id, n) for n in numbers])
        first, third = await sync_all(http, 1), await sync_all(http, 3)

    for chats, _ in (first, third):
        ids = [message["id"] for synced in chats for message in synced["messages"]]
        assert ids == [f"{chat_id}-{number:04d}" for number in range(count)]


async def test_a_chat_that_changes_meanwhile_comes_again_m87(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        chats = []
        for _ in range(CHATS_PER_PAGE + 3):
            world.clock.advance(seconds=1)
            chats.append(await begin(http))
        page = await sync(http, 3)
        world.clock.advance(seconds=1)
        await put(http, chats[0], messages=[build_message(chats[0], 1)])
        early, rewound = await sync_all(http, 3, page["cursor"])
        world.clock.advance(minutes=2)
        rest, cursor = await sync_all(http, 3, page["cursor"])
        repeated, _ = await sync_all(http, 3, rewound)
        replayed = await sync(http, 3)
        world.clock.advance(seconds=1)
        await http.delete(f"/v2/chat-sessions/{chats[1]}")
        later, _ = await sync_all(http, 3, cursor)

    assert list_ids(page["chats"]) == chats[:CHATS_PER_PAGE]
    assert list_ids(rest) == [*chats[CHATS_PER_PAGE:], chats[0]]
    assert list_ids(early) == list_ids(rest)
    assert list_ids(repeated)[-4:] == list_ids(rest)
    assert list_ids(replayed["chats"]) == chats[1 : CHATS_PER_PAGE + 1]
    [deleted] = later
    assert (deleted["chat"]["id"], deleted["chat"]["is_deleted"]) == (chats[1], True)
    assert (deleted["chat"]["ciphertext"], deleted["messages"]) == (None, [])


@pytest.mark.parametrize("cursor", ["x", "a.b.c.d", "...x", "....", "...-1"])
async def test_a_foreign_cursor_is_refused_m87(world: ChatFixture, cursor: str) -> None:
    async with open_chat(world.deps()) as http:
        for phase in (1, 2, 3):
            answer = await http.get("/v2/sync", params={"phase": phase, "cursor": cursor})
            assert answer.status_code == 422
        assert (await http.get("/v2/sync", params={"phase": 4})).status_code == 422


async def list_cached(world: ChatFixture) -> list[str]:
    query = Query(collection=f"users/{ADA}/sync_cache", fields=("cached_at",))
    return [document.id for document in await world.documents.query(query)]


async def test_the_sync_cache_is_cleared_by_the_third_acknowledgement_m86(
    world: ChatFixture,
) -> None:
    async with open_chat(world.deps()) as http:
        chat_id = await begin(http)
        await put(http, chat_id, messages=[build_message(chat_id, 1)])
        before = await sync_all(http, 3)
        cached = await list_cached(world)
        again = await sync_all(http, 3)
        early = await http.post("/v2/sync/ack", json={"phase": 2})
        await http.post("/v2/sync/ack", json={"phase": 3})

    assert cached == [chat_id]
    assert again == before
    assert early.status_code == 422
    assert await list_cached(world) == []


async def test_the_sync_cache_shows_no_chat_as_it_was_m86(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        chat_id = await begin(http)
        await put(http, chat_id, messages=[build_message(chat_id, 1)])
        await sync_all(http, 1)
        world.clock.advance(seconds=1)
        await put(http, chat_id, messages=[build_message(chat_id, 2)])
        [changed], _ = await sync_all(http, 1)
        world.clock.advance(hours=1)
        await world.documents.delete_tree(f"users/{ADA}/sealed_chats/{chat_id}/ciphertexts/x")
        [expired], _ = await sync_all(http, 1)

    assert [len(synced["messages"]) for synced in (changed, expired)] == [2, 2]


async def test_the_sync_cache_holds_a_hundred_chats_m86(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        for _ in range(MAX_CACHED + 5):
            world.clock.advance(seconds=1)
            await begin(http)
        await sync_all(http, 3)

    assert len(await list_cached(world)) == MAX_CACHED


async def test_what_a_sync_reads_grows_with_its_chats_alone_m86(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        for _ in range(40):
            world.clock.advance(seconds=1)
            await begin(http)
    counting = CountingDocuments(world.documents)
    async with open_chat(replace(world, documents=counting).deps()) as http:
        await sync_all(http, 3)

    assert counting.documents <= 5 * 40


async def test_deleted_sealed_chats_make_room_for_others(world: ChatFixture) -> None:
    chats = [
        SealedChat(id=SessionId(f"sealed-{n}"), created_at=START, changed_at=START)
        for n in range(MAX_CHATS)
    ]
    for first in range(0, MAX_CHATS, 500):
        part = chats[first : first + 500]
        await world.documents.write(
            *(Set(f"users/{ADA}/sealed_chats/{chat.id}", dump(chat)) for chat in part)
        )
    new = {"storage_mode": "client_encrypted"}
    async with open_chat(world.deps()) as http:
        refused = await http.post("/v2/chat-sessions", json=new)
        await http.delete(f"/v2/chat-sessions/{chats[0].id}")
        accepted = await http.post("/v2/chat-sessions", json=new)

    assert (refused.status_code, accepted.status_code) == (409, 200)
