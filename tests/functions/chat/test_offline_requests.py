"""Requests that the offline model follows by the chat's own tools, under the same consent (P2, C50)."""

from zoneinfo import ZoneInfo

import pytest

from functions.chat.tools.deletion_tools import NO_SUCH_CONVERSATION, build_deletion_tools
from shared.adapters.embedded.offline.answers import SENTENCES
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.domain.errors import ToolRefused
from shared.domain.ids import ActionItemId
from shared.domain.tasks.action_item import ActionItem
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.library import build_conversation, store_conversations, store_memories
from tests.functions.chat.test_files import store_file
from tests.functions.chat.test_memory_tools import list_facts
from tests.functions.chat.test_message_routes import ask

TASKS = ("Book the train tickets", "Return the tickets of the opera", "Zahnarzt anrufen")


class Chat:
    """One chat of Ada's with the offline model."""

    def __init__(self, world: ChatFixture) -> None:
        self._deps = world.deps(OfflineModel())

    async def say(self, text: str) -> str:
        _, screen = await ask(self._deps, {"text": text})
        return screen.text


@pytest.fixture
def chat(world: ChatFixture) -> Chat:
    return Chat(world)


async def store_tasks(world: ChatFixture) -> None:
    now = world.clock.now()
    for number, text in enumerate(TASKS):
        task = ActionItem(
            id=ActionItemId(f"t{number}"), description=text, created_at=now, updated_at=now
        )
        await world.deps().stores.action_items.add(ADA, task)


async def list_open(world: ChatFixture) -> list[str]:
    items = await world.deps().stores.action_items.list_newest(ADA, limit=50)
    return [item.description for item in items if not item.completed]


async def list_talks(world: ChatFixture) -> list[str]:
    page = await world.deps().stores.conversations.list_between(
        ADA, start=None, end=None, limit=9, offset=0, with_segments=False
    )
    return [conversation.id for conversation in page]


@pytest.mark.parametrize(
    ("request_text", "done"),
    [
        ("Mark the train tickets as done", TASKS[0]),
        ("I have returned the opera tickets, tick it off", TASKS[1]),
        ("Hake den Zahnarzt ab", TASKS[2]),
    ],
)
async def test_the_task_that_is_named_is_ticked_off_and_can_be_reopened(
    world: ChatFixture, chat: Chat, request_text: str, done: str
) -> None:
    await store_tasks(world)

    assert f"- {done} (done)" in await chat.say(request_text)
    assert sorted(await list_open(world)) == sorted({*TASKS} - {done})

    await chat.say("undo")
    assert sorted(await list_open(world)) == sorted(TASKS)


@pytest.mark.parametrize(
    ("request_text", "answer"),
    [
        ("Mark the tickets as done", SENTENCES["which_task"]),
        ("Mark the laundry as done", SENTENCES["no_such_task"]),
    ],
)
async def test_no_task_is_ticked_off_where_several_or_none_are_meant(
    world: ChatFixture, chat: Chat, request_text: str, answer: str
) -> None:
    await store_tasks(world)

    assert answer in await chat.say(request_text)
    assert len(await list_open(world)) == len(TASKS)


async def test_a_new_task_has_the_date_of_its_day_and_not_its_word(
    world: ChatFixture, chat: Chat
) -> None:
    await chat.say("Remind me to call Gran tomorrow")

    (task,) = await world.deps().stores.action_items.list_newest(ADA, limit=9)
    assert (task.description, f"{task.due_at:%Y-%m-%d}") == ("Call Gran", "2026-03-03")


async def test_what_is_to_be_forgotten_goes_once_the_owner_says_yes(
    world: ChatFixture, chat: Chat
) -> None:
    await store_memories(world, ADA, ["Ada plays the cello", "Ada likes tea"])

    assert SENTENCES["no_such_memory"] in await chat.say("Forget that I own a boat")
    assert SENTENCES["name_memory"] in await chat.say("Forget that")
    assert "“Ada plays the cello”" in await chat.say("Forget that I play the cello")
    assert len(await list_facts(world)) == 2

    await chat.say("yes")
    assert await list_facts(world) == ["Ada likes tea"]


@pytest.mark.parametrize(("reply", "left"), [("yes", ["c001"]), ("no", ["c001", "c002"])])
async def test_a_conversation_goes_only_by_the_owners_word(
    world: ChatFixture, chat: Chat, reply: str, left: list[str]
) -> None:
    talks = [build_conversation(1, "The boat is blue."), build_conversation(2, "Here is the bank.")]
    await store_conversations(world, ADA, *talks)

    assert SENTENCES["no_such_talk"] in await chat.say("Delete the conversation with the notary")
    assert "Delete the conversation “Talk 2”" in await chat.say(
        "Delete the conversation with the bank"
    )
    assert len(await list_talks(world)) == 2

    await chat.say(reply)
    assert sorted(await list_talks(world)) == left


@pytest.mark.parametrize(
    "request_text", ["Delete everything about the bank", "Lösche alles über die Bank"]
)
async def test_several_conversations_are_deleted_each_by_the_owners_word_p2(
    world: ChatFixture, chat: Chat, request_text: str
) -> None:
    said = ("The bank called. Die Bank.", "The bank is closed. Die Bank.", "The boat is blue.")
    talks = [build_conversation(number, text) for number, text in enumerate(said, 1)]
    await store_conversations(world, ADA, *talks)

    asked = await chat.say(request_text)
    assert "2 conversations are about that" in asked
    assert "“Talk 1”" in asked
    assert len(await list_talks(world)) == 3

    assert "“Talk 2”" in await chat.say("yes")
    await chat.say("yes")
    assert await list_talks(world) == ["c003"]


async def test_nobody_deletes_what_is_not_theirs(world: ChatFixture) -> None:
    await store_conversations(world, EVE, build_conversation(1, "Eve's secret."))

    (tool,) = build_deletion_tools(world.deps(), ADA, ZoneInfo("UTC"), None)
    for conversation_id in ("c001", "nope"):
        with pytest.raises(ToolRefused, match=NO_SUCH_CONVERSATION[:20]):
            await tool.run({"conversation_id": conversation_id}, "call-1")


async def test_how_the_product_is_used_is_looked_up_in_the_manual_or_else_searched_p8(
    world: ChatFixture,
    chat: Chat,
) -> None:
    await store_conversations(world, ADA, build_conversation(1, "I whittle wooden spoons."))

    assert (await chat.say("How do I import WhatsApp chats?")).startswith("From the page")


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "I did not read “bill.pdf”, “photo.pdf”: files are read only with a language model"),
        ("de-CH", "“bill.pdf”, “photo.pdf” habe ich nicht gelesen"),
        ("ja", "“bill.pdf”, “photo.pdf” は読んでいません"),
    ],
)
async def test_an_attached_file_that_no_model_reads_is_named(
    world: ChatFixture, language: str, told: str
) -> None:
    await store_conversations(world, ADA, build_conversation(1, "The bill was 40 euros."))
    deps = world.deps(OfflineModel())
    await deps.stores.profiles.change(ADA, language=language)
    names = [await store_file(world, name, "The bill is 55 euros.") for name in ("bill", "photo")]

    _, screen = await ask(deps, {"text": "How much was the bill?", "file_ids": names})
    assert "40 euros" in screen.text
    assert told in screen.text

    _, later = await ask(deps, {"text": "How much was the bill?"})
    assert told not in later.text
