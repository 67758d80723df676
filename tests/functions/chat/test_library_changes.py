"""Library changes: what an answer changed is listed with it, and undone once (S1)."""

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest
from pydantic_core import from_json, to_json

from shared.data.chats.runs import _decode_event, _encode_event
from shared.data.search.library_index import LibraryIndex
from shared.data.tasks.action_items import action_item_path
from shared.domain.chats.library_change import LibraryChange
from shared.domain.chats.run import LibraryChanged
from shared.domain.conversations.conversation import Conversation, ExtractedItem, Structured
from shared.domain.errors import Unavailable
from shared.domain.ids import ActionItemId, ConversationId
from shared.domain.tasks.action_item import ActionItem
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fault_injection import FaultyPort, raise_bug, succeed
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.test_message_routes import open_chat

UI_PROTOCOL = {"protocol": "ui-message-stream"}
MILK = ActionItemId("milk")


def parse_chunks(stream: bytes, kind: str) -> list[Mapping[str, Any]]:
    lines = [line[6:] for line in stream.split(b"\n") if line.startswith(b"data: {")]
    return [chunk for chunk in map(json.loads, lines) if chunk["type"] == kind]


async def add_milk(world: ChatFixture) -> ActionItem:
    now = world.clock.now()
    milk = ActionItem(id=MILK, description="Buy milk", created_at=now, updated_at=now)
    return await world.deps().stores.action_items.add(ADA, milk)


async def list_items(world: ChatFixture) -> list[ActionItem]:
    return await world.deps().stores.action_items.list_newest(ADA, limit=9)


async def change(http: httpx.AsyncClient, text: str = "Please do it") -> bytes:
    answer = await http.post("/v2/messages", json={"text": text}, params=UI_PROTOCOL)
    return answer.content


async def load_changes(http: httpx.AsyncClient) -> list[dict[str, Any]]:
    (answer, *_) = (await http.get("/v2/messages")).json()
    changes: list[dict[str, Any]] = answer["metadata"].get("changes", [])
    return [{**made, "url": f"/v1/messages/{answer['id']}/changes/{made['id']}/undo"} for made in changes]  # fmt: skip


async def list_facts(world: ChatFixture) -> list[str]:
    return [m.content for m in await world.deps().stores.memories.list_newest(ADA, limit=9)]


def script(name: str, **arguments: Any) -> ScriptedModel:
    return ScriptedModel(script_calls((name, arguments)), script_answer("Done."))


async def test_a_created_task_is_listed_with_the_answer_and_deleted_by_undo_s1(
    world: ChatFixture,
) -> None:
    with script("create_action_item", description="Buy milk") as model:
        async with open_chat(world.deps(model)) as http:
            stream = await change(http)
            (made,) = await load_changes(http)
            undone = await http.post(made["url"])
            (listed,) = await load_changes(http)

    (chunk,) = parse_chunks(stream, "data-change")
    (message,) = parse_chunks(stream, "data-message")
    assert chunk["data"] == {"id": made["id"], "text": made["text"], "state": "done"}
    assert message["data"]["metadata"]["changes"] == [chunk["data"]]
    assert made["text"] == "Created the task “Buy milk”"
    assert undone.json() == {"id": made["id"], "text": made["text"], "state": "undone"}
    assert listed["state"] == "undone"
    assert await list_items(world) == []


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"completed": True}, "Completed the task “Buy milk”"),
        ({"description": "Buy bread"}, "Changed the task “Buy milk”"),
        ({"due_at": "2026-03-09T10:00:00+01:00"}, "Changed the task “Buy milk”"),
    ],
)
async def test_a_changed_task_is_as_before_after_undo_s1(
    world: ChatFixture, arguments: dict[str, Any], text: str
) -> None:
    before = await add_milk(world)
    world.clock.advance(seconds=60)
    with script("update_action_item", action_item_id=MILK, **arguments) as model:
        async with open_chat(world.deps(model)) as http:
            await change(http)
            (changed,) = await list_items(world)
            (made,) = await load_changes(http)
            undone = await http.post(made["url"])

    assert changed != before
    assert made["text"] == text
    assert undone.status_code == 200
    assert await list_items(world) == [before]


async def test_the_conversation_of_a_changed_task_follows_the_change_and_its_undo(
    world: ChatFixture,
) -> None:
    milk, stores = await add_milk(world), world.deps().stores
    talk = ConversationId("talk")
    await stores.conversations.add(
        ADA,
        Conversation(
            id=talk,
            created_at=milk.created_at,
            started_at=milk.created_at,
            finished_at=milk.created_at,
            structured=Structured(action_items=(ExtractedItem(description="Buy milk", id=MILK),)),
        ),
    )
    await stores.action_items.change(ADA, MILK, conversation_id=talk)

    async def is_completed() -> bool:
        (item,) = (await stores.conversations.get(ADA, talk)).structured.action_items
        return item.completed

    with script("update_action_item", action_item_id=MILK, completed=True) as model:
        async with open_chat(world.deps(model)) as http:
            await change(http)
            (made,) = await load_changes(http)
            after_change = await is_completed()
            await http.post(made["url"])

    assert (after_change, await is_completed()) == (True, False)


async def test_a_repeated_undo_undoes_nothing_more_s1(world: ChatFixture) -> None:
    await add_milk(world)
    with script("update_action_item", action_item_id=MILK, completed=True) as model:
        async with open_chat(world.deps(model)) as http:
            await change(http)
            (made,) = await load_changes(http)
            first = await http.post(made["url"])
            await world.deps().stores.action_items.change(ADA, MILK, description="Buy soy milk")
            second = await http.post(made["url"])

    (item,) = await list_items(world)
    assert first.json() == second.json()
    assert item.description == "Buy soy milk"


async def test_a_task_that_was_changed_since_is_not_overwritten_s1(world: ChatFixture) -> None:
    await add_milk(world)
    with script("update_action_item", action_item_id=MILK, completed=True) as model:
        async with open_chat(world.deps(model)) as http:
            await change(http)
            await world.deps().stores.action_items.change(ADA, MILK, description="Buy soy milk")
            (made,) = await load_changes(http)
            refusal = await http.post(made["url"])
            await world.deps().stores.action_items.remove(ADA, MILK)
            refusal_after_deletion = await http.post(made["url"])
            (listed,) = await load_changes(http)

    detail = "This task was changed or deleted since, so it stays as it is."
    assert (refusal.status_code, refusal.json()["detail"]) == (409, detail)
    assert refusal_after_deletion.status_code == 409
    assert listed["state"] == "done"
    assert await world.documents.get(action_item_path(ADA, MILK)) is None


async def test_two_changes_of_a_task_are_undone_in_reverse_s1(world: ChatFixture) -> None:
    before = await add_milk(world)
    calls = [
        ("update_action_item", {"action_item_id": MILK, **changes})
        for changes in ({"description": "Buy bread"}, {"completed": True})
    ]
    turns = (script_calls(calls[0]), script_calls(calls[1]), script_answer("Done."))
    with ScriptedModel(*turns) as model:
        async with open_chat(world.deps(model)) as http:
            await change(http)
            first, second = await load_changes(http)
            too_early = await http.post(first["url"])
            statuses = [(await http.post(made["url"])).status_code for made in (second, first)]

    assert too_early.status_code == 409
    assert statuses == [200, 200]
    assert await list_items(world) == [before]


async def test_an_unknown_change_is_not_found_s1(world: ChatFixture) -> None:
    with script("create_action_item", description="Buy milk") as model:
        deps = world.deps(model)
        async with open_chat(deps) as http, open_chat(deps, EVE) as eve:
            await change(http)
            (made,) = await load_changes(http)
            by_another = await eve.post(made["url"])
            others = [
                await http.post(url)
                for url in (
                    made["url"].replace(made["id"], "nope"),
                    "/v1/messages/nope/changes/nope/undo",
                    "/v1/messages/.../changes/nope/undo",
                )
            ]

    assert {answer.status_code for answer in (by_another, *others)} == {404}
    assert len(await list_items(world)) == 1


async def test_a_change_is_the_same_when_another_process_reads_the_journal_s1(
    world: ChatFixture,
) -> None:
    milk = await add_milk(world)
    event = LibraryChanged(LibraryChange(id="c1", text="Changed it", before=milk, after=milk))

    stored_event = from_json(to_json(_encode_event(event)))

    assert _decode_event(*stored_event) == event


async def test_a_call_that_changes_nothing_lists_no_change_s1(world: ChatFixture) -> None:
    await add_milk(world)
    with script("create_action_item", description="buy milk!") as model:
        async with open_chat(world.deps(model)) as http:
            stream = await change(http)
            assert await load_changes(http) == []

    assert parse_chunks(stream, "data-change") == []


async def say(http: httpx.AsyncClient, text: str) -> str:
    """Ask as the released app does; return what it shows."""
    done = (await http.post("/v2/messages", json={"text": text})).content.rsplit(b"done: ", 1)[1]
    shown: str = from_json(base64.b64decode(done))["text"]
    return shown


@pytest.mark.parametrize(
    ("language", "told", "reply", "undone"),
    [
        (
            None,
            "Changed: Created the task `Buy 'milk' [x](http://evil.example)`. Reply undo.",
            "Undo!",
            "Undone: Created the task `Buy 'milk' [x](http://evil.example)`.",
        ),
        ("de", "Geändert: Aufgabe", "rückgängig", "Rückgängig gemacht: Aufgabe"),
    ],
)
async def test_the_released_app_is_told_what_changed_and_undoes_it_by_a_reply_g3(
    world: ChatFixture, language: str | None, told: str, reply: str, undone: str
) -> None:
    await world.deps().stores.profiles.change(ADA, language=language)
    with script("create_action_item", description="Buy `milk` [x](http://evil.example)") as model:
        async with open_chat(world.deps(model)) as http:
            answer = await say(http, "Buy milk [x](http://evil.example)")
            made = await list_items(world)
            replied = await say(http, reply)
            messages = (await http.get("/v2/messages")).json()
            (listed,) = next(m for m in messages if "changes" in m["metadata"])["metadata"][
                "changes"
            ]

    assert answer.startswith("Done.\n\n")
    assert told in answer
    assert replied.startswith(undone)
    assert (len(made), await list_items(world), listed["state"]) == (1, [], "undone")


async def test_the_last_change_is_undone_also_once_something_else_was_said_g3(
    world: ChatFixture,
) -> None:
    with ScriptedModel(
        script_calls(("create_action_item", {"description": "Buy milk"})),
        *(script_answer("Fine.") for _ in range(2)),
    ) as model:
        async with open_chat(world.deps(model)) as http:
            await say(http, "Please remind me to buy milk")
            for text in ("Thank you", "undo", "undo"):
                world.clock.advance(seconds=5)
                replied = await say(http, text)

    assert await list_items(world) == []
    assert replied == "Undone: Created the task `Buy milk`.", "a repeat says the same"


async def test_what_was_changed_since_stays_and_is_told_g3(world: ChatFixture) -> None:
    with script("create_action_item", description="Buy milk") as model:
        async with open_chat(world.deps(model)) as http:
            await say(http, "Please remind me to buy milk")
            (item,) = await list_items(world)
            await world.deps().stores.action_items.change(ADA, item.id, description="Buy bread")
            world.clock.advance(seconds=5)
            replied = await say(http, "undo")

    assert replied.startswith("It was changed or deleted since")
    assert [item.description for item in await list_items(world)] == ["Buy bread"]


async def test_an_undo_that_failed_in_its_midst_is_completed_by_the_next_g3(
    world: ChatFixture,
) -> None:
    facts = ("I like green tea", "I live in Bonn")
    with ScriptedModel(
        script_calls(*(("remember", {"fact": fact}) for fact in facts)), script_answer("Noted.")
    ) as model:
        vectors: Any = FaultyPort(world.vectors, delete=[raise_bug, succeed, raise_bug])
        async with open_chat(replace(world.deps(model), index=LibraryIndex(vectors))) as http:
            await say(http, " and ".join(facts))
            stored, told = await list_facts(world), []
            for _ in range(3):
                world.clock.advance(seconds=5)
                told.append(await say(http, "undo"))

    assert sorted(stored) == sorted(facts)
    assert [text.startswith("Undone") for text in told] == [False, False, True]
    assert told[2].count("Remembered") == 2
    assert await list_facts(world) == []


async def test_a_client_that_shows_changes_is_not_told_in_words_g3(world: ChatFixture) -> None:
    with script("create_action_item", description="Buy milk") as model:
        async with open_chat(world.deps(model)) as http:
            stream = await change(http, "Please remind me to buy milk")

    assert b"Reply undo" not in stream


async def test_an_answer_that_breaks_off_tells_its_change_too_g3(world: ChatFixture) -> None:
    create = script_calls(("create_action_item", {"description": "Buy milk"}))
    with ScriptedModel(create, [Unavailable("down")]) as model:
        async with open_chat(world.deps(model)) as http:
            answer = await say(http, "Please remind me to buy milk")
            undone = await say(http, "undo")

    assert answer.endswith("\n\nChanged: Created the task `Buy milk`. Reply undo.")
    assert (undone, await list_items(world)) == ("Undone: Created the task `Buy milk`.", [])
