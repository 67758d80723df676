"""Derived records: memories and tasks are looked up by the words they were stored with."""

from datetime import UTC, datetime

import pytest

from shared.data.memories.memories import Memories
from shared.data.tasks.action_items import ActionItems
from shared.domain.ids import ActionItemId, MemoryId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.tasks.action_item import ActionItem
from shared.ports import Documents

ALICE = UserId("alice")
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def build_memory(content: str, aspect: str | None = None) -> Memory:
    return Memory(
        id=MemoryId(content.rsplit(maxsplit=1)[-1]),
        content=content,
        category="system",
        created_at=NOW,
        updated_at=NOW,
        aspect=aspect,
    )


@pytest.fixture
async def memories(documents: Documents) -> Memories:
    memories = Memories(documents)
    await memories.add(ALICE, build_memory("User lives in Bergen", "home"))
    return memories


@pytest.mark.parametrize(
    ("content", "aspect", "is_conflicting"),
    [
        ("user LIVES in Bergen!", None, True),
        ("User moved to Porto", "home", True),
        ("User moved to Porto", "employer", False),
        ("User moved to Porto", None, False),
    ],
)
async def test_memories_in_the_same_words_or_of_the_same_exclusive_key_conflict_c63(
    memories, content, aspect, is_conflicting
):
    conflicting = await memories.find_conflicting(ALICE, [build_memory(content, aspect)])

    assert [memory.id for memory in conflicting] == ["Bergen"] * is_conflicting


async def test_many_facts_find_each_that_they_repeat_once_c63(memories):
    facts = [build_memory(f"User likes song {n}", f"favourite {n}") for n in range(40)]
    for fact in facts:
        await memories.add(ALICE, fact)

    conflicting = await memories.find_conflicting(ALICE, facts)

    assert sorted(memory.id for memory in conflicting) == sorted(fact.id for fact in facts)


async def test_an_edited_memory_is_looked_up_by_its_new_words_c63(memories):
    await memories.change(ALICE, MemoryId("Bergen"), content="User loves Porto", aspect=None)

    old = await memories.find_conflicting(ALICE, [build_memory("User lives in Bergen", "home")])
    new = await memories.find_conflicting(ALICE, [build_memory("User loves Porto")])

    assert (old, [memory.id for memory in new]) == ([], ["Bergen"])


async def test_an_edited_task_is_looked_up_by_its_new_words_p5(documents):
    items = ActionItems(documents)
    item = ActionItem(id=ActionItemId("a"), description="Call Ann", created_at=NOW, updated_at=NOW)
    await items.add(ALICE, item)

    await items.change(ALICE, item.id, description="Call Tom")

    assert await items.find_open(ALICE, "call ann") is None
    assert await items.find_open(ALICE, "call tom!") is not None
