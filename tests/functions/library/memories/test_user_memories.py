"""User memories: deletions, edits and confirmations hold for each conversation with the fact (C50, C63)."""

import pytest

from functions.library.conversations.reprocessing import start_reprocessing
from shared.data.search.search import Search
from shared.domain.errors import Unavailable
from shared.domain.ids import ConversationId, MemoryId
from tests.fixtures.library import build_client, build_library_deps
from tests.fixtures.processing import ALICE, ProcessingFixture, build_processing_fixture
from tests.functions.process_conversation.test_interruptions import Interruption
from tests.functions.process_conversation.test_reconcile import (
    HOMES,
    SingleFactReader,
    build_talk,
    list_contents,
    process_talks,
)

REPEATED_HOME = build_talk("b", "User lives in Bergen", hours=1)


@pytest.fixture
def reader_world(database) -> ProcessingFixture:
    return build_processing_fixture(database, SingleFactReader())  # type: ignore[arg-type]


@pytest.fixture
async def alice(reader_world):
    async with build_client(reader_world, ALICE) as client:
        yield client


async def list_memory_rows(world: ProcessingFixture) -> list[str]:
    return [row for row in await world.list_row_ids() if row.endswith("#m")]


async def get_memory_path(alice) -> str:
    (memory,) = (await alice.get("/v3/memories")).json()
    return f"/v3/memories/{memory['id']}"


async def reprocess(world: ProcessingFixture, alice, name: str) -> None:
    """Process a conversation again; the stored model answers are reused."""
    response = await alice.patch(f"/v1/conversations/{name}", json={"title": f"Another {name}"})
    assert response.status_code == 200
    await world.deliver_all()


async def test_deleting_all_memories_includes_superseded_ones_c50(reader_world, alice):
    await process_talks(reader_world, *HOMES)

    await alice.delete("/v3/memories")

    assert await reader_world.deps.stores.memories.list_all(ALICE, limit=9) == []
    assert await list_memory_rows(reader_world) == []
    for name in "abc":
        await reprocess(reader_world, alice, name)
    assert await reader_world.deps.stores.memories.list_all(ALICE, limit=9) == []


async def test_a_deleted_fact_is_not_extracted_again_c50(reader_world, alice):
    await process_talks(reader_world, HOMES[0], REPEATED_HOME)

    await alice.delete(await get_memory_path(alice))
    await reprocess(reader_world, alice, "b")
    await reprocess(reader_world, alice, "a")

    assert await list_contents(reader_world) == []
    assert await list_memory_rows(reader_world) == []


async def test_deleting_a_correction_restores_the_corrected_fact_c63(reader_world, alice):
    await process_talks(reader_world, *HOMES[:2])

    await alice.post(f"{await get_memory_path(alice)}/review", params={"value": False})

    assert await list_contents(reader_world) == ["User lives in Bergen"]
    await reprocess(reader_world, alice, "b")
    assert await list_contents(reader_world) == ["User lives in Bergen"]
    assert len(await list_memory_rows(reader_world)) == 1


async def test_reprocessing_a_conversation_does_not_count_its_own_memory_again_c62(
    reader_world, alice
):
    await process_talks(reader_world, HOMES[0])
    path = await get_memory_path(alice)

    await alice.post(f"{path}/review", params={"value": True})
    await reprocess(reader_world, alice, "a")

    assert (await alice.get(path)).json()["mentions"] == 1


async def test_any_number_of_corrections_can_be_looked_up_c63(reader_world):
    ids = [MemoryId(f"m{n}") for n in range(75)]

    assert await reader_world.deps.stores.memories.list_superseded_by(ALICE, ids) == []


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 20))
async def test_a_user_edit_during_processing_is_the_only_version_indexed(database, at, after):
    """P30: an edit of a memory may fall between any two steps."""

    async def edit() -> None:
        async with build_client(world, ALICE) as client:
            await client.patch(f"/v3/memories/{memory.id}", params={"value": "User rents a boat"})

    interruption = Interruption(0, edit, after)
    world = build_processing_fixture(database, SingleFactReader(), interruption.wrap)  # type: ignore[arg-type]
    await process_talks(world, HOMES[0])
    (memory,) = await world.deps.stores.memories.list_newest(ALICE, limit=9)
    await start_reprocessing(build_library_deps(world), ALICE, ConversationId("a"))
    (message,) = world.events.list_by_topic("conversation.changed")[-1:]

    interruption.at = interruption.calls + at
    await world.deliver(message)

    assert interruption.done or interruption.calls < interruption.at  # it has fewer steps
    query = "Bergen boat"
    (hit,) = await Search(world.documents, world.vectors).search_memories(ALICE, query, limit=9)
    assert hit.content == ("User rents a boat" if interruption.done else "User lives in Bergen")
    assert len(await list_memory_rows(world)) == 1


@pytest.mark.parametrize("at", [1, 2, 3, 4])
@pytest.mark.parametrize("is_deleted", [False, True])
async def test_after_two_concurrent_edits_the_stored_one_is_indexed(database, at, is_deleted):
    async def change_concurrently() -> None:
        async with build_client(world, ALICE) as client:
            if is_deleted:
                await client.delete("/v3/memories/m1")
            else:
                await client.patch("/v3/memories/m1", params={"value": "Second"})

    interruption = Interruption(0, change_concurrently, after=False)
    world = build_processing_fixture(database, SingleFactReader(), interruption.wrap)  # type: ignore[arg-type]
    async with build_client(world, ALICE) as client:
        await client.post("/v3/memories", json={"id": "m1", "content": "Nothing"})
        interruption.at = interruption.calls + at
        await client.patch("/v3/memories/m1", params={"value": "First"})

    stored_memories = await world.deps.stores.memories.list_all(ALICE, limit=9)
    query = " ".join(memory.content for memory in stored_memories) or "First Second"
    hits = await Search(world.documents, world.vectors).search_memories(ALICE, query, limit=9)
    assert hits == stored_memories
    assert len(await list_memory_rows(world)) == len(stored_memories)


async def deliver_with_retry(world: ProcessingFixture, message) -> None:
    """Deliver as the queue does, until the message is handled."""
    for _ in range(5):
        try:
            return await world.deliver(message)
        except Unavailable:
            world.clock.advance(seconds=11)
    raise AssertionError("it is never taken")


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 20))
async def test_deleting_two_conversations_at_once_leaves_no_fact_c63(database, at, after):
    async def deliver_second() -> None:
        await deliver_with_retry(world, messages[1])

    interruption = Interruption(0, deliver_second, after)
    world = build_processing_fixture(database, SingleFactReader(), interruption.wrap)  # type: ignore[arg-type]
    await process_talks(world, HOMES[0], REPEATED_HOME)
    for name in "ab":
        await world.delete(name=ConversationId(name))
    messages = await world.run_trigger()
    interruption.at = interruption.calls + at

    await deliver_with_retry(world, messages[0])
    if not interruption.done:  # it has fewer steps
        await deliver_second()

    assert await world.deps.stores.memories.list_all(ALICE, limit=9) == []
    assert await list_memory_rows(world) == []


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 20))
async def test_a_user_edit_during_the_removal_of_its_conversation_is_kept(database, at, after):
    status_codes: list[int] = []

    async def edit() -> None:
        async with build_client(world, ALICE) as client:
            answer = await client.patch(path, params={"value": "User rents a boat"})
            status_codes.append(answer.status_code)

    interruption = Interruption(0, edit, after)
    world = build_processing_fixture(database, SingleFactReader(), interruption.wrap)  # type: ignore[arg-type]
    await process_talks(world, HOMES[0])
    (memory,) = await world.deps.stores.memories.list_newest(ALICE, limit=9)
    path = f"/v3/memories/{memory.id}"
    await world.delete(name=ConversationId("a"))
    (message,) = await world.run_trigger()
    interruption.at = interruption.calls + at

    await deliver_with_retry(world, message)

    expected = ["User rents a boat"] if status_codes == [200] else []
    assert interruption.done or interruption.calls < interruption.at  # it has fewer steps
    assert await list_contents(world) == expected
    hits = await Search(world.documents, world.vectors).search_memories(ALICE, "boat", limit=9)
    assert [memory.content for memory in hits] == expected
    assert len(await list_memory_rows(world)) == len(expected)


async def test_a_conversation_that_corrected_an_inherited_fact_can_be_deleted_c63(reader_world):
    await process_talks(
        reader_world, HOMES[0], REPEATED_HOME, build_talk("b", "User lives in Porto", hours=1)
    )
    await reader_world.delete(name=ConversationId("a"))
    await reader_world.deliver_all()

    await reader_world.delete(name=ConversationId("b"))
    await reader_world.deliver_all()

    assert await reader_world.deps.stores.memories.list_all(ALICE, limit=9) == []
    assert await reader_world.load_everything() == {"documents": {}, "rows": []}
