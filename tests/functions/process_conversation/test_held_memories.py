"""Held memories: a fact that has to be said again waits for another conversation that says it (C62)."""

from typing import Any

import pytest

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.data.search.search import Search
from shared.data.stores import Stores
from shared.domain.conversations.conversation import Conversation
from shared.domain.ids import ConversationId
from shared.domain.memories.memory import HOLD_TIME, Memory
from shared.library.owner_memories import delete_all_memories
from shared.ports import Documents
from tests.fault_injection import Crash
from tests.fixtures.processing import (
    ALICE,
    EXTRACTION,
    ProcessingFixture,
    build_extraction_output,
    build_memory_output,
    build_processing_fixture,
)
from tests.functions.process_conversation.test_interruptions import (
    Interruption,
    deliver_until_idle,
)
from tests.functions.process_conversation.test_reconcile import SingleFactReader, build_talk

DOUBT = "I am no good at maths"
FIRST, _ = build_talk("a", DOUBT, hours=0)
SECOND, _ = build_talk("b", DOUBT, hours=1)
THIRD, _ = build_talk("c", DOUBT, hours=2)
IN_OTHER_WORDS, _ = build_talk("d", "Numbers are beyond me", hours=1)


class DoubtReader(SingleFactReader):
    """A model that hears self-doubt, and knows it again in other words."""

    async def complete_structured(self, role: str, prompt: Any, schema: Any) -> Any:
        if prompt.name != EXTRACTION:
            return await super().complete_structured(role, prompt, schema)
        text = prompt.data["transcript"][0]["text"]
        known = prompt.data["existing_memories"]
        number = next((m["number"] for m in known if m["text"] == DOUBT), None)
        return schema.model_validate(
            build_extraction_output(build_doubt(text, repeats=number if text != DOUBT else None))
        )


def build_doubt(text: str, **changes: Any) -> dict[str, Any]:
    return build_memory_output(text, evidence=text, kind="self_doubt", **changes)


@pytest.fixture
def world(database: SqliteDatabase) -> ProcessingFixture:
    return build_processing_fixture(database, DoubtReader())  # type: ignore[arg-type]


async def process_all(world: ProcessingFixture, *conversations: Conversation) -> None:
    for conversation in conversations:
        await world.write(conversation)
        await world.deliver_all()


async def list_current(world: ProcessingFixture) -> list[Memory]:
    return await Stores(world.documents).memories.list_newest(ALICE, limit=9)


async def list_stored(world: ProcessingFixture) -> list[Memory]:
    return await Stores(world.documents).memories.list_all(ALICE, limit=9)


async def find(world: ProcessingFixture) -> list[str]:
    search = Search(world.documents, world.vectors)
    return [m.content for m in await search.search_memories(ALICE, "good at maths", limit=9)]


async def count_rows(world: ProcessingFixture) -> int:
    return len([row for row in await world.list_row_ids() if row.endswith("#m")])


async def test_what_was_said_once_is_held_and_not_found_c62(world: ProcessingFixture) -> None:
    await process_all(world, FIRST)

    [held] = await list_stored(world)
    assert (held.content, held.is_held, held.held_until) == (
        DOUBT,
        True,
        FIRST.finished_at + HOLD_TIME,
    )
    assert await list_current(world) == []
    assert await find(world) == []
    assert await count_rows(world) == 0


@pytest.mark.parametrize("second", [SECOND, IN_OTHER_WORDS], ids=["same words", "other words"])
async def test_what_another_conversation_says_too_becomes_a_memory_c62(
    world: ProcessingFixture, second: Conversation
) -> None:
    await process_all(world, FIRST, second)

    [memory] = await list_stored(world)
    assert (memory.content, memory.is_current, memory.is_held) == (DOUBT, True, False)
    assert (memory.conversation_id, memory.seen_in) == (FIRST.id, (second.id,))
    assert await find(world) == [DOUBT]
    assert await count_rows(world) == 1


async def test_processed_again_neither_counts_twice_nor_waits_again_c62(
    world: ProcessingFixture,
) -> None:
    await process_all(world, FIRST)
    for message in world.events.list_by_topic("conversation.changed"):
        await world.deliver(message)
    assert await list_current(world) == []

    await process_all(world, SECOND)
    for message in world.events.list_by_topic("conversation.changed"):
        await world.deliver(message)
    [memory] = await list_current(world)
    assert memory.seen_in == (SECOND.id,)


async def test_what_is_said_after_its_time_begins_to_wait_itself_c62(
    world: ProcessingFixture,
) -> None:
    await process_all(world, FIRST)
    world.clock.advance(seconds=HOLD_TIME.total_seconds())
    later, _ = build_talk("later", DOUBT, hours=HOLD_TIME.days * 24)

    await process_all(world, later)

    assert await list_current(world) == []
    assert [m.conversation_id for m in await list_stored(world)] == [later.id, FIRST.id]


async def test_what_was_said_long_ago_does_not_begin_to_wait_c62(world: ProcessingFixture) -> None:
    world.clock.advance(seconds=HOLD_TIME.total_seconds())

    await process_all(world, FIRST)

    assert await list_stored(world) == []


async def test_what_waits_goes_with_its_conversation_and_with_all_memories_c62(
    world: ProcessingFixture,
) -> None:
    await process_all(world, FIRST)
    await world.delete(name=FIRST.id)
    await world.deliver_all()
    assert await list_stored(world) == []

    await process_all(world, SECOND)
    await delete_all_memories(world.deps.stores.memories, world.deps.index, ALICE)
    assert await list_stored(world) == []


async def test_of_two_that_wait_one_becomes_a_memory_c62(world: ProcessingFixture) -> None:
    await process_all(world, FIRST)
    [held] = await list_stored(world)
    twin = Memory(
        id=type(held.id)("twin"),
        content=DOUBT,
        category="system",
        created_at=held.created_at,
        updated_at=held.updated_at,
        conversation_id=ConversationId("elsewhere"),
    )
    await world.deps.stores.memories.add(ALICE, twin.hold(held.created_at + HOLD_TIME))

    await process_all(world, SECOND, THIRD)

    [memory] = await list_current(world)
    assert memory.seen_in == (SECOND.id, THIRD.id)


@pytest.mark.parametrize("second", [SECOND, IN_OTHER_WORDS], ids=["same words", "other words"])
@pytest.mark.parametrize("cut", range(1, 27))
async def test_wherever_the_second_is_cut_one_memory_is_found_c62(
    database: SqliteDatabase, second: Conversation, cut: int
) -> None:
    async def crash() -> None:
        raise Crash

    interruption = Interruption(at=0, action=crash, after=True)
    world = build_processing_fixture(database, DoubtReader(), interruption.wrap)  # type: ignore[arg-type]
    await process_all(world, FIRST)
    interruption.at = interruption.calls + cut
    await world.write(second)

    await deliver_until_idle(world)

    [memory] = await list_stored(world)
    assert (memory.content, memory.is_current, memory.seen_in) == (DOUBT, True, (second.id,))
    assert await find(world) == [DOUBT]


async def test_on_each_storage_the_second_conversation_decides_c62(
    any_documents: Documents, database: SqliteDatabase
) -> None:
    world = build_processing_fixture(
        database,
        DoubtReader(),  # type: ignore[arg-type]
        external_documents=any_documents,
    )
    counts = []
    for conversation in (FIRST, SECOND):
        await world.write(conversation)
        await world.deliver({"uid": ALICE, "conversation_id": conversation.id})
        counts.append(len(await list_current(world)))

    assert counts == [0, 1]
