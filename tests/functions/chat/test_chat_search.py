"""Search in chats (U7): titles and messages of one's own, of every version, page by page."""

from typing import Any

import httpx

from functions.chat.api.routes import ROUTES
from functions.chat.sessions import chat_search
from shared.domain.chats.chat import MAIN_SESSION, Message, build_session
from shared.domain.ids import MessageId, SessionId
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.callers import build_auth_headers, open_client
from tests.fixtures.chat import ADA, EVE, ChatFixture


async def search(world: ChatFixture, uid: str = ADA, **query: str) -> httpx.Response:
    async with open_client("chat", ROUTES, world.deps(), build_auth_headers(uid)) as http:
        return await http.get("/v1/chats/search", params=query)


def read_hits(response: httpx.Response) -> list[tuple[str, str | None]]:
    items: list[dict[str, Any]] = response.json()["items"]
    return [(i["chat"]["title"], i["message"] and i["message"]["excerpt"]) for i in items]


async def store_messages(world: ChatFixture, chat: str, *texts: str, title: str = "") -> None:
    session = build_session(
        SessionId(chat), app_id=None, now=world.clock.now(), title=title or chat
    )
    stores = world.deps().stores
    if chat != MAIN_SESSION:
        await stores.sessions.add(ADA, session)
    for number, text in enumerate(texts):
        world.clock.advance(seconds=1)
        message = Message(
            id=MessageId(f"{chat}-{number}"),
            session_id=session.id,
            text=text,
            sender="human",
            created_at=world.clock.now(),
        )
        await stores.messages.add(ADA, session, message)


async def test_chats_are_found_by_title_and_message_u7(world: ChatFixture) -> None:
    await store_messages(world, "main", "When does the ferry leave?", "And tulips?")
    await store_messages(world, "garden", "Which bulbs?", title="Tulips and ferries")
    await store_messages(world, "trips", "The last ferries leave at nine.")

    found = await search(world, query="ferries")

    assert read_hits(found) == [
        ("Tulips and ferries", None),
        ("trips", "The last ferries leave at nine."),
        ("New Chat", "When does the ferry leave?"),
    ]
    assert found.json()["next_cursor"] is None
    assert (await search(world, EVE, query="ferries")).json()["items"] == []


async def test_a_message_of_a_hidden_version_is_found_u7(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("By ferry."), script_answer("By train.")) as model:
        async with open_client("chat", ROUTES, world.deps(model), build_auth_headers(ADA)) as http:
            asked = await http.post("/v2/messages", json={"text": "How?"})
            first = asked.headers["x-run-id"]
            world.clock.advance(seconds=1)
            await http.post(f"/v2/messages/{first}/versions", json={})
            found = await http.get("/v1/chats/search", params={"query": "ferry"})

    [hit] = found.json()["items"]
    assert (hit["message"]["id"], hit["message"]["sender"]) == (first, "ai")


async def test_many_hits_come_in_pages_without_gaps(world: ChatFixture) -> None:
    texts = [f"tulip {n}" for n in range(chat_search.MAX_HITS + 5)]
    await store_messages(world, "main", *texts)

    first = await search(world, query="tulip")
    second = await search(world, query="tulip", cursor=first.json()["next_cursor"])

    excerpts = [excerpt for _, excerpt in read_hits(first) + read_hits(second)]
    assert excerpts == texts[::-1]
    assert second.json()["next_cursor"] is None


async def test_a_query_without_words_is_refused(world: ChatFixture) -> None:
    refusals = [
        await search(world, query="?!"),
        await search(world, query=""),
        await search(world, query="x" * 201),
        await search(world, query="x", cursor="nope"),
    ]

    assert [refusal.status_code for refusal in refusals] == [422] * 4
    assert refusals[0].json()["detail"] == "Write at least one word to search for."
