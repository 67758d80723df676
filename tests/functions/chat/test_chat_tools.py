"""Words of earlier chats, found again however long ago (M125)."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from functions.chat.tools.builtin_tool import MORE_HITS
from functions.chat.tools.chat_tools import MAX_HITS
from shared.domain.chats.chat import Message, build_session
from shared.domain.ids import MessageId, SessionId, UserId
from shared.domain.models.model import ToolResult
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.test_message_routes import ask


async def store(world: ChatFixture, *texts: str, uid: UserId = ADA, **fields: Any) -> None:
    """Store messages of an older chat, a minute apart, a year ago."""
    then = world.clock.now() - timedelta(days=365)
    session = build_session(SessionId("old"), app_id=None, now=then)
    messages = [
        Message(
            id=MessageId(f"{uid}-{number}"),
            session_id=session.id,
            text=text,
            sender="human",
            created_at=then + timedelta(minutes=number),
        )
        for number, text in enumerate(texts)
    ]
    stores = world.deps().stores
    await stores.sessions.add(uid, session)
    for message in messages:
        await stores.messages.add(uid, session, replace(message, **fields))


async def search(world: ChatFixture, query: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = (await call_search(world, query)).get("messages", [])
    return found


async def call_search(world: ChatFixture, query: str) -> dict[str, Any]:
    call = script_calls(("search_chats", {"query": query}))
    with ScriptedModel(call, script_answer("You did.")) as model:
        await ask(world.deps(model), {"text": "Remember?"})
    [result] = [m.text for m in model.calls[1].messages if isinstance(m, ToolResult)]
    if "messages" not in result:
        return {}
    found: dict[str, Any] = json.loads(result[result.index("{") : result.rindex("}") + 1])
    return found


async def test_an_old_fact_is_found_and_put_back_with_its_message_m125(world: ChatFixture) -> None:
    filler = [f"Chatter number {number}" for number in range(1_200)]
    await store(world, "My locker has the number 4711", *filler)

    found, *_ = await search(world, "locker number")

    assert (found["id"], found["chat"], found["from"]) == ("ada-0", "old", "User")
    assert found["text"] == "My locker has the number 4711"
    assert found["at"].startswith("2025-03-02T12:00")


@pytest.mark.parametrize(("query", "note"), [("red boat", MORE_HITS), ("boat at sea", None)])
async def test_a_search_says_whether_other_messages_fit_as_well_m125(
    world: ChatFixture, query: str, note: str | None
) -> None:
    await store(world, *["red boat"] * (MAX_HITS + 1), "red boat at sea")

    found = await call_search(world, query)

    assert (found["messages"][0]["text"], found.get("note")) == ("red boat at sea", note)


async def test_most_words_come_first_and_of_equals_the_newest_m125(world: ChatFixture) -> None:
    await store(world, "red boat", "red kite", "red boat again", "blue sky")

    found = await search(world, "red boat harbour")

    assert [row["text"] for row in found] == ["red boat again", "red boat"]


async def test_words_of_others_stay_theirs_m125(world: ChatFixture) -> None:
    await store(world, "The vault opens at noon", is_imported=True)

    [found] = await search(world, "vault")

    assert found["from"] == "an imported file"


async def test_chats_of_others_are_not_searched_m125(world: ChatFixture) -> None:
    await store(world, "My locker has the number 4711", uid=EVE)

    assert await search(world, "locker") == []


async def test_a_query_without_words_is_corrected_m125(world: ChatFixture) -> None:
    assert await search(world, "?!") == []
