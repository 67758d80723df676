"""Far offsets of memories and tasks: the same pages as by reading all, from few reads."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from shared.data.memories.memories import Memories
from shared.data.store.offsets import MAX_SKIPPED
from shared.data.tasks.action_items import ActionItemFilter, ActionItems
from shared.domain.ids import ActionItemId, ConversationId, MemoryId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Remove, Update
from shared.domain.tasks.action_item import ActionItem, TaskOwner
from shared.ports import Documents
from tests.fakes import CountingDocuments

ALICE = UserId("alice")
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
COUNT = 500
OWNERS: tuple[TaskOwner, ...] = ("me", "me", "other", "unknown")


def list_times() -> list[datetime]:
    """Return times as libraries have them: some years apart, many within an hour, twenty at once."""
    dice = Random(1)  # noqa: S311 - no secret
    ages = [dice.choice((dice.uniform(0, 1e8), dice.uniform(0, 3_600))) for _ in range(COUNT)]
    return [NOW - timedelta(seconds=ages[n - n % 20] if n < 40 else ages[n]) for n in range(COUNT)]


async def store_memories(documents: Documents) -> None:
    await Memories(documents).add_all(
        ALICE,
        [
            Memory(
                id=MemoryId(f"m{n:03}"),
                content=f"Fact {n}",
                category="system",
                created_at=at,
                updated_at=at,
                valid_to=NOW if n % 7 == 0 else None,
            )
            for n, at in enumerate(list_times())
        ],
    )


async def store_tasks(documents: Documents) -> None:
    dice = Random(2)  # noqa: S311 - no secret
    await ActionItems(documents).add_all(
        ALICE,
        [
            ActionItem(
                id=ActionItemId(f"t{n:03}"),
                description=f"Task {n}",
                created_at=at,
                updated_at=at,
                completed=n % 3 == 0,
                owner=dice.choice(OWNERS),
                conversation_id=ConversationId("talk") if n % 5 else None,
            )
            for n, at in enumerate(list_times())
        ],
    )
    # Tasks that were stored before there were owners.
    await documents.write(
        *(
            Update(f"users/alice/action_items/t{n:03}", {"owner": Remove()})
            for n in range(0, COUNT, 9)
        )
    )


async def test_a_far_page_of_memories_is_a_piece_of_the_whole(any_documents):
    await store_memories(any_documents)
    memories = Memories(any_documents)
    whole = await memories.list_newest(ALICE, limit=COUNT)

    for offset in (MAX_SKIPPED + 1, 250, len(whole) - 3, len(whole), COUNT * 2):
        page = await memories.list_newest(ALICE, limit=10, offset=offset)
        assert page == whole[offset : offset + 10]


@pytest.mark.parametrize(
    "wanted",
    [
        ActionItemFilter(),
        ActionItemFilter(completed=False),
        ActionItemFilter(conversation_id=ConversationId("talk"), end=NOW - timedelta(minutes=1)),
        ActionItemFilter(completed=False, conversation_id=ConversationId("talk")),
    ],
)
@pytest.mark.parametrize("owners", [("me",), ("other", "unknown"), ("me", "other", "unknown")])
async def test_a_far_page_of_tasks_is_a_piece_of_the_whole(documents, owners, wanted):
    await store_tasks(documents)
    tasks, where = ActionItems(documents), wanted.to_where()

    async def load(**page: Any) -> list[ActionItem]:
        return [*(await tasks.list_owned_page(ALICE, owners, where=where, **page)).items]

    whole = await load(limit=COUNT)
    for offset in (MAX_SKIPPED + 1, len(whole) - 3, COUNT):
        assert await load(limit=10, offset=offset) == whole[offset : offset + 10]


async def test_a_far_page_reads_little_more_than_it_shows(documents):
    await store_memories(documents)
    await store_tasks(documents)
    counting = CountingDocuments(documents)

    assert len(await Memories(counting).list_newest(ALICE, limit=10, offset=400)) == 10
    assert counting.documents < MAX_SKIPPED + 10 + 25
    counting.documents = 0
    page = await ActionItems(counting).list_owned_page(ALICE, ("me",), limit=10, offset=250)
    assert len(page.items) == 10
    assert counting.documents < 2 * MAX_SKIPPED + 2 * 10 + 50
