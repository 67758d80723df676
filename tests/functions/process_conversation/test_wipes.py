"""Wipes of all memories while a conversation is processed: nothing of it is remembered afterwards (D9)."""

from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations_with_replacement
from typing import Any, TypeAlias

from shared.data.search.library_index import LibraryIndex
from shared.data.stores import Stores
from shared.domain.conversations.claim import LEASE_TTL
from shared.library.owner_memories import delete_all_memories
from tests.fakes import ScriptedModel
from tests.fault_injection import WatchedPort
from tests.fixtures.processing import (
    ALICE,
    TALK,
    ProcessingFixture,
    build_outputs,
    build_processing_fixture,
    build_script,
    build_test_conversation,
)
from tests.fixtures.storage import MemoryDatabase
from tests.functions.process_conversation.upkeep.test_sweep import DistantModel, run_sweep

Step: TypeAlias = Callable[[ProcessingFixture], Awaitable[None]]


@dataclass
class Schedule:
    """Takes steps right before calls to the processor's ports, by the number of the call."""

    steps: dict[int, list[Callable[[], Awaitable[None]]]] = field(default_factory=dict)
    calls: int = 0

    def wrap(self, name: str, port: Any) -> Any:
        return WatchedPort(port, self)

    async def intercept(self, call: Callable[[], Awaitable[Any]]) -> Any:
        self.calls += 1
        for step in self.steps.get(self.calls, ()):
            await step()
        return await call()


async def begin_wipe(world: ProcessingFixture) -> None:
    await Stores(world.documents).profiles.begin_wipe(ALICE, now=world.clock.now())


async def delete_memories(world: ProcessingFixture) -> None:
    memories = Stores(world.documents).memories
    await delete_all_memories(memories, LibraryIndex(world.vectors), ALICE)


async def count_memories(world: ProcessingFixture) -> tuple[int, int]:
    """Count the documents and the rows of memories."""
    memories = await Stores(world.documents).memories.list_all(ALICE, limit=9)
    rows = [name for name in await world.list_row_ids() if name.endswith("#m")]
    return len(memories), len(rows)


async def process_with(*steps: tuple[int, Step]) -> tuple[int, tuple[int, int]]:
    """Process a conversation; return how many calls that took, and how many memories and rows there are."""
    schedule, outputs = Schedule(), build_script(build_outputs())
    with closing(MemoryDatabase()) as database, ScriptedModel(answers=outputs) as model:
        world = build_processing_fixture(database, model, schedule.wrap)
        for at, step in steps:
            schedule.steps.setdefault(at, []).append(partial(step, world))
        await world.write(build_test_conversation())
        await world.deliver_all()
        assert (await world.load_conversation()).status == "completed"
        return schedule.calls, await count_memories(world)


async def test_a_wipe_at_any_two_moments_of_processing_leaves_no_memory_d9():
    """It begins before one call to a port, and deletes before the same call or a later one."""
    calls, found = await process_with()
    assert found == (1, 1)

    for begun_at, deleted_at in combinations_with_replacement(range(2, calls + 1), 2):
        moments = (begun_at, begin_wipe), (deleted_at, delete_memories)
        _, found = await process_with(*moments)
        assert found == (0, 0), f"begun at call {begun_at}, deleted at {deleted_at} of {calls}"


async def test_a_wipe_before_anything_is_read_leaves_what_is_said_afterwards_d9():
    _, found = await process_with((1, begin_wipe), (1, delete_memories))

    assert found == (1, 1)


async def test_what_an_outage_let_wait_over_a_wipe_is_not_remembered_d9(database):
    model = DistantModel(answers=build_script(build_outputs(), build_outputs()))
    with model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()
        await begin_wipe(world)
        await delete_memories(world)
        model.is_back = True
        world.clock.advance(minutes=1)
        await run_sweep(world)
        found = await count_memories(world)
        await world.write(build_test_conversation("I'm allergic to peanuts, and to dust."))
        await world.deliver_all()

    assert found == (0, 0)
    assert await count_memories(world) == (0, 0)


async def test_what_an_attempt_read_that_died_before_a_wipe_is_not_remembered_d9(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        [message] = await world.run_trigger()
        await world.deps.claims.acquire(ALICE, TALK, message_hash=message["content_hash"])
        await begin_wipe(world)
        await delete_memories(world)
        world.clock.advance(seconds=LEASE_TTL.total_seconds())
        await world.deliver(message)

        assert (await world.load_conversation()).status == "completed"
        assert await count_memories(world) == (0, 0)
