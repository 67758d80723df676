"""Pairing: wrapped keys of sealed chats reach one browser of their owner, once and within five minutes (M83)."""

import base64

import httpx
import pytest

from functions.chat.api.pairing_schemas import MAX_KEYS_BYTES
from shared.data.chats.pairings import NOT_WAITING
from shared.domain.chats.pairing import MAX_WRONG_GUESSES
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.test_message_routes import open_chat

ID, OTHER_ID = "a" * 32, "b" * 32
KEYS = base64.b64encode(b"\x01" + b"wrapped".ljust(60, b"\0")).decode()


async def start(http: httpx.AsyncClient, pairing_id: str = ID, keys: str = KEYS) -> httpx.Response:
    return await http.put("/v2/sealed-pairing", json={"id": pairing_id, "wrapped_keys": keys})


async def take(http: httpx.AsyncClient, pairing_id: str = ID) -> httpx.Response:
    return await http.post("/v2/sealed-pairing/take", json={"id": pairing_id})


async def test_the_keys_come_byte_for_byte_and_once_m83(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        started = await start(http)
        first, second = await take(http), await take(http)

    assert started.status_code == 200, started.text
    assert first.json() == {"wrapped_keys": KEYS}
    assert (second.status_code, second.json()["detail"]) == (404, NOT_WAITING)
    assert await world.documents.get(f"users/{ADA}/pairings/current") is None


@pytest.mark.parametrize(("seconds", "status"), [(299, 200), (300, 404)])
async def test_they_wait_five_minutes_m83(world: ChatFixture, seconds: int, status: int) -> None:
    async with open_chat(world.deps()) as http:
        await start(http)
        world.clock.advance(seconds=seconds)

        assert (await take(http)).status_code == status
        assert await world.documents.get(f"users/{ADA}/pairings/current") is None


@pytest.mark.parametrize(
    ("guesses", "status"), [(MAX_WRONG_GUESSES - 1, 200), (MAX_WRONG_GUESSES, 404)]
)
async def test_wrong_codes_end_them_m83(world: ChatFixture, guesses: int, status: int) -> None:
    async with open_chat(world.deps()) as http:
        await start(http)
        wrong = {(await take(http, OTHER_ID)).status_code for _ in range(guesses)}

        assert wrong == {404}
        assert (await take(http)).status_code == status


async def test_a_code_that_its_owner_ends_serves_nobody_m83(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        await start(http)
        ended = [(await http.delete("/v2/sealed-pairing")).status_code for _ in range(2)]

        assert ended == [200, 200]
        assert (await take(http)).status_code == 404


async def test_a_new_code_ends_the_one_before_m83(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        await start(http)
        await start(http, OTHER_ID)

        assert [(await take(http, name)).status_code for name in (ID, OTHER_ID)] == [404, 200]


async def test_another_user_neither_gets_nor_ends_them_m83(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http, open_chat(world.deps(), uid=EVE) as eve:
        await start(http)
        foreign = {(await take(eve)).status_code for _ in range(MAX_WRONG_GUESSES)}
        await start(eve, OTHER_ID)

        assert foreign == {404}
        assert (await take(http)).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"id": ID},
        {"id": "short", "wrapped_keys": KEYS},
        {"id": f"../{ID}", "wrapped_keys": KEYS},
        {"id": ID, "wrapped_keys": "no base64"},
        {"id": ID, "wrapped_keys": ""},
        {"id": ID, "wrapped_keys": base64.b64encode(b"\x02" * 61).decode()},
        {"id": ID, "wrapped_keys": base64.b64encode(b"\x01" * (MAX_KEYS_BYTES + 1)).decode()},
    ],
    ids=str,
)
async def test_what_no_browser_leaves_is_refused_m83(
    world: ChatFixture, body: dict[str, str]
) -> None:
    async with open_chat(world.deps()) as http:
        assert (await http.put("/v2/sealed-pairing", json=body)).status_code == 422
        assert (await take(http)).status_code == 404


async def test_an_erasure_takes_them_too_m83(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        await start(http)
        await world.deps().stores.accounts.delete(ADA)

        assert (await take(http)).status_code == 404
