"""Routes of notes: clients ask for what follows an answer, and for how to begin a chat (M107, M118, M130)."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from functions.chat.notes.read_notes import WAITING_TIME
from shared.domain.chats.chat import Message
from shared.domain.ids import MemoryId, SessionId
from shared.library.manual_memories import build_manual_memory
from shared.library.owner_memories import change_memory, delete_memory
from tests.fakes import AutoAdvanceClock, FixedClock, ScriptedModel, script_answer
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.chats import store_messages
from tests.functions.chat.library import store_memories
from tests.functions.chat.test_message_routes import open_chat
from tests.functions.chat.test_notes import FOLLOW_UPS, NEW_CHATS, OUTPUT, note

TEA = {
    "operation": "update",
    "fact": "User likes coffee",
    "about": "likes tea",
    "quote": "I like coffee",
}


async def store_answer(world: ChatFixture, question: str = "I like coffee now.") -> Message:
    _, answer = await store_messages(world, question, "Noted.")
    return answer


async def test_notes_are_awaited_then_read_then_unchanged_m130(world: ChatFixture) -> None:
    answer = await store_answer(world)
    async with open_chat(world.deps()) as http:
        early = await http.get(f"/v2/messages/{answer.id}/notes")
        await note(world, answer, OUTPUT)
        ready = await http.get(f"/v2/messages/{answer.id}/notes")
        again = await http.get(
            f"/v2/messages/{answer.id}/notes", headers={"If-None-Match": ready.headers["etag"]}
        )

    assert (early.status_code, early.headers["retry-after"]) == (204, "1")
    assert ready.json()["follow_ups"] == FOLLOW_UPS
    assert ready.json()["chat"]["title"] == "Lisbon offsite"
    assert (ready.json()["chat"]["summary"], ready.json()["chat"]["tags"]) == (
        OUTPUT["summary"],
        OUTPUT["tags"],
    )
    assert (again.status_code, again.content) == (304, b"")


async def test_what_was_suggested_before_something_was_forgotten_is_suggested_no_more_m119(
    world: ChatFixture,
) -> None:
    noted, awaited = await store_answer(world), await store_answer(world, "And tea?")
    await note(world, noted, OUTPUT)
    world.clock.advance(seconds=1)
    deps = world.deps()

    await deps.stores.profiles.change(ADA, forgot_at=world.clock.now())
    async with open_chat(deps) as http:
        told = [(await http.get(f"/v2/messages/{each.id}/notes")) for each in (noted, awaited)]

    assert [answer.status_code for answer in told] == [200, 200]
    for name in ("follow_ups", "next_steps", "actions", "new_categories"):
        assert [answer.json()[name] for answer in told] == [[], []], name


async def test_an_open_client_is_told_once_notes_are_there_m130(world: ChatFixture) -> None:
    answer = await store_answer(world)

    class NotingClock(FixedClock):
        """A clock on which the answer is noted while somebody waits."""

        async def sleep(self, seconds: float) -> None:
            await note(world, answer, OUTPUT)

    world.clock = NotingClock(world.clock.now())
    async with open_chat(world.deps()) as http:
        told = await http.get(f"/v2/messages/{answer.id}/notes/events")
        unknown = await http.get("/v2/messages/unknown/notes/events")

    assert unknown.status_code == 404
    assert told.headers["content-type"].startswith("text/event-stream")
    assert json.loads(told.text.removeprefix("data: "))["follow_ups"] == FOLLOW_UPS


async def test_a_client_that_waits_in_vain_is_told_nothing_m130(world: ChatFixture) -> None:
    answer = await store_answer(world)
    world.clock = AutoAdvanceClock(world.clock.now())
    async with open_chat(world.deps()) as http:
        response = await http.get(f"/v2/messages/{answer.id}/notes/events")

    assert (response.status_code, response.text) == (200, "")
    assert sum(world.clock.sleeps_s) == 30


async def test_more_clients_than_may_follow_are_refused_m130(world: ChatFixture) -> None:
    answer = await store_answer(world)
    deps = world.deps(quotas={"followers": 1})
    async with open_chat(deps) as http:
        await note(world, answer, OUTPUT)
        statuses = [
            (await http.get(f"/v2/messages/{answer.id}/notes/events")).status_code for _ in range(2)
        ]

    assert statuses == [200, 429]


async def test_nothing_is_awaited_any_more_after_a_while_m130(world: ChatFixture) -> None:
    answer = await store_answer(world)
    world.clock.advance(seconds=WAITING_TIME.total_seconds())

    async with open_chat(world.deps()) as http:
        response = await http.get(f"/v2/messages/{answer.id}/notes")

    assert (response.status_code, response.json()["follow_ups"]) == (200, [])


async def test_an_incognito_answer_has_no_notes_m130(world: ChatFixture) -> None:
    model = ScriptedModel(script_answer("Hi"))
    async with open_chat(world.deps(model)) as http:
        begun = await http.post("/v2/chat-sessions", json={"storage_mode": "incognito"})
        chat = {"chat_session_id": begun.json()["id"]}
        asked = await http.post("/v2/messages", params=chat, json={"text": "Hello?"})
        run = asked.headers["x-run-id"]
        response = await http.get(f"/v2/messages/{run}/notes")

    assert world.events.published == []
    assert (response.status_code, response.json()["follow_ups"]) == (200, [])


async def test_notes_are_of_ones_own_answers_alone_m130(world: ChatFixture) -> None:
    question, answer = await store_messages(world, "When?", "Friday.")
    await note(world, answer, OUTPUT)

    async with open_chat(world.deps()) as ada, open_chat(world.deps(), uid=EVE) as eve:
        of_question = await ada.get(f"/v2/messages/{question.id}/notes")
        of_other = await eve.get(f"/v2/messages/{answer.id}/notes")

    assert (of_question.status_code, of_other.status_code) == (404, 404)


async def read_actions(world: ChatFixture, answer: Message) -> list[Mapping[str, Any]]:
    async with open_chat(world.deps()) as http:
        response = await http.get(f"/v2/messages/{answer.id}/notes")
    actions: list[Mapping[str, Any]] = response.json()["actions"]
    return actions


async def test_an_action_names_its_entry_and_what_that_says_m107(world: ChatFixture) -> None:
    await store_memories(world, ADA, ["User likes tea"])
    answer = await store_answer(world)
    await note(world, answer, {"memory_suggestions": [TEA]})

    assert await read_actions(world, answer) == [
        {
            "tool": "update_memory",
            "arguments": {"content": "User likes coffee"},
            "entry_id": "m000",
            "entry_text": "You like tea",
        }
    ]


@pytest.mark.parametrize("change", ["made", "deleted", "said elsewhere"])
async def test_an_action_that_would_change_nothing_is_not_shown_m107(
    world: ChatFixture, change: str
) -> None:
    await store_memories(world, ADA, ["User likes tea"])
    answer = await store_answer(world)
    await note(world, answer, {"memory_suggestions": [TEA]})
    deps = world.deps()
    if change == "deleted":
        await delete_memory(deps.stores.memories, deps.index, ADA, MemoryId("m000"))
    elif change == "made":
        await change_memory(
            deps.stores.memories,
            deps.index,
            deps.clock,
            ADA,
            MemoryId("m000"),
            content="User likes coffee",
        )
    else:
        coffee = build_manual_memory("coffee", "User likes coffee", world.clock.now())
        await deps.stores.memories.add(ADA, coffee)

    assert await read_actions(world, answer) == []


async def test_a_setting_that_the_owner_has_set_meanwhile_is_not_suggested_m107(
    world: ChatFixture,
) -> None:
    answer = await store_answer(world, "Speak German from now on.")
    suggestion = {"setting": "language", "value": "de", "quote": "Speak German"}
    await note(world, answer, {"setting_suggestions": [suggestion]})

    before = await read_actions(world, answer)
    async with open_chat(world.deps()) as http:
        await http.patch("/v1/users/profile", json=before[0]["arguments"])

    assert [action["tool"] for action in before] == ["change_profile"]
    assert await read_actions(world, answer) == []


async def test_questions_to_begin_with_come_from_the_newest_chats_in_turn_m118(
    world: ChatFixture,
) -> None:
    for name in ("one", "two"):
        _, answer = await store_messages(world, "When?", "Friday.", session_id=SessionId(name))
        suggestions = [f"{text} in chat {name}" for text in NEW_CHATS]
        await note(world, answer, {"new_chats": suggestions}, session_id=SessionId(name))

    async with open_chat(world.deps()) as ada, open_chat(world.deps(), uid=EVE) as eve:
        suggested = (await ada.get("/v2/chat-suggestions")).json()["suggestions"]
        of_other = (await eve.get("/v2/chat-suggestions")).json()["suggestions"]

    assert len(suggested) == 6
    assert suggested[:2] == [f"{NEW_CHATS[0]} in chat two", f"{NEW_CHATS[0]} in chat one"]
    assert of_other == []
