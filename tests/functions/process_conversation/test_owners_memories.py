"""What the owner deletes, edits and confirms holds for every conversation that said it (C50, C63)."""

import pytest

from shared.data.search import Search
from shared.domain.errors import Unavailable
from shared.domain.ids import ConversationId, MemoryId
from tests.functions.process_conversation.client import client_of
from tests.functions.process_conversation.test_interruptions import Interruption
from tests.functions.process_conversation.test_reconcile import HOMES, Reader, hear, known, told
from tests.functions.process_conversation.world import ALICE, World, world_on

AGAIN = told("b", "User lives in Bergen", hours=1)


@pytest.fixture
def listening(database) -> World:
    return world_on(database, Reader())  # type: ignore[arg-type]


@pytest.fixture
async def alice(listening):
    async with client_of(listening, ALICE) as client:
        yield client


async def memory_rows(world: World) -> list[str]:
    return [row for row in await world.row_ids() if row.endswith("#m")]


async def the_memory(alice) -> str:
    (memory,) = (await alice.get("/v3/memories")).json()
    return f"/v3/memories/{memory['id']}"


async def process_again(world: World, alice, name: str) -> None:
    """Have a conversation processed anew; what the models said of it is used again."""
    changed = await alice.patch(f"/v1/conversations/{name}", json={"title": f"Another {name}"})
    assert changed.status_code == 200
    await world.settle()


async def test_c50_all_memories_are_those_that_no_longer_hold_too(listening, alice):
    await hear(listening, *HOMES)

    await alice.delete("/v3/memories")

    assert await listening.deps.memories.any(ALICE, limit=9) == []
    assert await memory_rows(listening) == []
    for name in "abc":
        await process_again(listening, alice, name)
    assert await listening.deps.memories.any(ALICE, limit=9) == []


async def test_c50_a_deleted_fact_comes_back_from_no_conversation_that_said_it(listening, alice):
    await hear(listening, HOMES[0], AGAIN)

    await alice.delete(await the_memory(alice))
    await process_again(listening, alice, "b")
    await process_again(listening, alice, "a")

    assert await known(listening) == []
    assert await memory_rows(listening) == []


async def test_c63_when_the_owner_deletes_a_correction_what_it_corrected_holds_again(
    listening, alice
):
    await hear(listening, *HOMES[:2])

    await alice.post(f"{await the_memory(alice)}/review", params={"value": False})

    assert await known(listening) == ["User lives in Bergen"]
    await process_again(listening, alice, "b")
    assert await known(listening) == ["User lives in Bergen"]
    assert len(await memory_rows(listening)) == 1


async def test_c62_a_confirmed_memory_is_not_said_again_by_its_own_conversation(listening, alice):
    await hear(listening, HOMES[0])
    path = await the_memory(alice)

    await alice.post(f"{path}/review", params={"value": True})
    await process_again(listening, alice, "a")

    assert (await alice.get(path)).json()["mentions"] == 1


async def test_c63_any_number_of_corrections_can_be_looked_up(listening):
    ids = [MemoryId(f"m{n}") for n in range(75)]

    assert await listening.deps.memories.superseded_by(ALICE, ids) == []


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 20))
async def test_what_the_owner_writes_during_a_processing_is_found_and_nothing_else(
    database, at, after
):
    """P30: an edit of a memory may fall between any two steps."""

    async def edit() -> None:
        async with client_of(world, ALICE) as client:
            await client.patch(f"/v3/memories/{memory.id}", params={"value": "User rents a boat"})

    cut = Interruption(0, edit, after)
    world = world_on(database, Reader(), cut.wrap)  # type: ignore[arg-type]
    await hear(world, HOMES[0])
    (memory,) = await world.deps.memories.newest(ALICE, limit=9)
    async with client_of(world, ALICE) as client:
        await client.post("/v1/conversations/a/reprocess")
    (message,) = world.events.of("conversation.changed")[-1:]

    cut.at = cut.calls + at
    await world.deliver(message)

    assert cut.done or cut.calls < cut.at  # it has fewer steps
    asked = "Bergen boat"
    (found,) = await Search(world.documents, world.vectors).memories(ALICE, asked, limit=9)
    assert found.content == ("User rents a boat" if cut.done else "User lives in Bergen")
    assert len(await memory_rows(world)) == 1


@pytest.mark.parametrize("at", [1, 2, 3, 4])
@pytest.mark.parametrize("gone", [False, True])
async def test_of_two_edits_at_once_the_one_that_stands_is_found(database, at, gone):
    async def another() -> None:
        async with client_of(world, ALICE) as other:
            if gone:
                await other.delete("/v3/memories/m1")
            else:
                await other.patch("/v3/memories/m1", params={"value": "Second"})

    cut = Interruption(0, another, after=False)
    world = world_on(database, Reader(), cut.wrap)  # type: ignore[arg-type]
    async with client_of(world, ALICE) as client:
        await client.post("/v3/memories", json={"id": "m1", "content": "Nothing"})
        cut.at = cut.calls + at
        await client.patch("/v3/memories/m1", params={"value": "First"})

    stored = await world.deps.memories.any(ALICE, limit=9)
    said = " ".join(memory.content for memory in stored) or "First Second"
    found = await Search(world.documents, world.vectors).memories(ALICE, said, limit=9)
    assert found == stored
    assert len(await memory_rows(world)) == len(stored)


async def insist(world: World, message) -> None:
    """Deliver as the queue does, until it is taken."""
    for _ in range(5):
        try:
            return await world.deliver(message)
        except Unavailable:
            world.clock.pass_(seconds=121)
    raise AssertionError("it is never taken")


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 20))
async def test_c63_of_two_conversations_deleted_at_once_no_fact_stays(database, at, after):
    async def other() -> None:
        await insist(world, messages[1])

    cut = Interruption(0, other, after)
    world = world_on(database, Reader(), cut.wrap)  # type: ignore[arg-type]
    await hear(world, HOMES[0], AGAIN)
    for name in "ab":
        await world.delete(name=ConversationId(name))
    messages = await world.tell()
    cut.at = cut.calls + at

    await insist(world, messages[0])
    if not cut.done:  # it has fewer steps
        await other()

    assert await world.deps.memories.any(ALICE, limit=9) == []
    assert await memory_rows(world) == []


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 20))
async def test_what_the_owner_writes_while_its_conversation_is_forgotten_stays(database, at, after):
    taken: list[int] = []

    async def edit() -> None:
        async with client_of(world, ALICE) as client:
            answer = await client.patch(path, params={"value": "User rents a boat"})
            taken.append(answer.status_code)

    cut = Interruption(0, edit, after)
    world = world_on(database, Reader(), cut.wrap)  # type: ignore[arg-type]
    await hear(world, HOMES[0])
    (memory,) = await world.deps.memories.newest(ALICE, limit=9)
    path = f"/v3/memories/{memory.id}"
    await world.delete(name=ConversationId("a"))
    (message,) = await world.tell()
    cut.at = cut.calls + at

    await insist(world, message)

    kept = ["User rents a boat"] if taken == [200] else []
    assert cut.done or cut.calls < cut.at  # it has fewer steps
    assert await known(world) == kept
    found = await Search(world.documents, world.vectors).memories(ALICE, "boat", limit=9)
    assert [memory.content for memory in found] == kept
    assert len(await memory_rows(world)) == len(kept)


async def test_c63_a_conversation_that_corrected_a_fact_it_inherited_can_be_forgotten(listening):
    await hear(listening, HOMES[0], AGAIN, told("b", "User lives in Porto", hours=1))
    await listening.delete(name=ConversationId("a"))
    await listening.settle()

    await listening.delete(name=ConversationId("b"))
    await listening.settle()

    assert await listening.deps.memories.any(ALICE, limit=9) == []
    assert await listening.everything() == {"documents": {}, "rows": []}
