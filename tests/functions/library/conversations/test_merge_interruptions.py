"""Interruptions of a merge: a crash at any step leaves all of it or nothing, and ends the same."""

from dataclasses import replace
from typing import Any

import pytest
from httpx import AsyncClient

from functions.library.routes import LIBRARY_ROUTES
from shared.data.stores import Stores
from shared.domain.errors import Unavailable
from tests.fault_injection import Crash, FaultInjector, WatchedPort
from tests.fixtures.callers import build_auth_headers, open_client
from tests.fixtures.library import CONVERSATIONS, build_library_deps
from tests.fixtures.merging import FIRST, IDS, SECOND, EchoModel, strip_bookkeeping
from tests.fixtures.processing import ALICE, ProcessingFixture, build_processing_fixture
from tests.fixtures.storage import MemoryDatabase

MAX_STEPS = 90
MERGE = {"conversation_ids": IDS}


def open_library(world: ProcessingFixture, injector: FaultInjector | None = None) -> Any:
    """Open the library as Alice; the injector may interrupt its documents and tasks."""
    deps = build_library_deps(world)
    if injector is not None:
        stores = Stores(WatchedPort(world.documents, injector))
        deps = replace(deps, stores=stores, tasks=WatchedPort(world.tasks, injector))
    return open_client("library", LIBRARY_ROUTES, deps, build_auth_headers(ALICE))


async def build_world(database: MemoryDatabase, *args: Any) -> ProcessingFixture:
    """Store and process two conversations."""
    world = build_processing_fixture(database, EchoModel())
    async with open_library(world) as alice:
        for body in (FIRST, SECOND):
            await alice.post(CONVERSATIONS, json=body)
    await world.deliver_all()
    return build_interrupted(world, database, *args)


def build_interrupted(
    world: ProcessingFixture, database: MemoryDatabase, injector: FaultInjector | None = None
) -> ProcessingFixture:
    """Return a world over the same data, in which the injector interrupts processing."""
    if injector is None:
        return world
    return build_processing_fixture(
        database, EchoModel(), lambda _, port: WatchedPort(port, injector), clock=world.clock
    )


async def deliver_until_idle(world: ProcessingFixture, injector: FaultInjector) -> None:
    """Deliver as the queue does: repeat failed messages, later, by a process that is up again."""
    pending = list(await world.run_trigger())
    for _ in range(30):
        pending += await world.run_trigger()
        if not pending:
            return
        message = pending.pop(0)
        try:
            await world.deliver(message)
        except (Crash, Unavailable):
            injector.is_down = False
            world.clock.advance(seconds=11)
            pending.append(message)
    raise AssertionError("it never becomes quiet")


async def post_until_done(
    alice: AsyncClient,
    path: str,
    injector: FaultInjector,
    world: ProcessingFixture | None = None,
) -> None:
    """Send a request as the client does: again after a failure, which has done all or nothing."""
    for _ in range(3):
        answer = await alice.post(path, json=MERGE)
        if world is not None:
            assert await list_visible(world) in ({*IDS}, {"merged"})
        if answer.status_code == 200:
            return
        injector.is_down = False
    raise AssertionError("it never succeeds")


async def list_visible(world: ProcessingFixture) -> set[str]:
    """Name the conversations that the owner sees; the merged one is called so."""
    page = await Stores(world.documents).conversations.list_page(ALICE, limit=10)
    return {c.id if c.id in IDS else "merged" for c in page.items}


def rename_merged(everything: Any, merged_id: str) -> str:
    """Write down everything without the random id of the merged conversation, and what it decides."""
    documents = strip_bookkeeping(everything)["documents"]
    return "\n".join(
        sorted(
            f"{path.split('/')[2]} {fields.get('content') or fields.get('description') or ''}"
            f" {fields.get('title', '')} {fields.get('conversation_id') == merged_id}"
            for path, fields in documents.items()
        )
    )


async def find_merged_id(world: ProcessingFixture) -> str:
    page = await Stores(world.documents).conversations.list_page(ALICE, limit=10)
    (merged,) = page.items
    return merged.id


async def compute_expected_end() -> str:
    database = MemoryDatabase()
    world = await build_world(database)
    async with open_library(world) as alice:
        await alice.post(f"{CONVERSATIONS}/merge", json=MERGE)
    await world.deliver_all()
    end = rename_merged(await world.load_everything(), await find_merged_id(world))
    database.close()
    return end


@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
async def test_a_merge_that_is_cut_at_any_call_is_whole_or_nothing(after_effect):
    expected = await compute_expected_end()

    for at in range(1, MAX_STEPS):
        database = MemoryDatabase()
        world = await build_world(database)
        injector = FaultInjector(fail_at_call=at, fails_after_effect=after_effect)
        async with open_library(world, injector) as alice:
            await post_until_done(alice, f"{CONVERSATIONS}/merge", injector, world)
        await world.deliver_all()
        end = rename_merged(await world.load_everything(), await find_merged_id(world))
        assert end == expected, f"cut at call {at}"
        assert world.tasks.list_by_target("finish_merge")
        database.close()
        if not injector.failure_count:
            break

    assert 8 < at < MAX_STEPS


@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
async def test_processing_after_a_merge_ends_the_same_wherever_it_is_cut(after_effect):
    expected = await compute_expected_end()

    for at in range(1, MAX_STEPS):
        database = MemoryDatabase()
        injector = FaultInjector(fail_at_call=at, fails_after_effect=after_effect)
        world = await build_world(database, injector)
        async with open_library(world) as alice:
            await alice.post(f"{CONVERSATIONS}/merge", json=MERGE)
        await deliver_until_idle(world, injector)
        end = rename_merged(await world.load_everything(), await find_merged_id(world))
        assert end == expected, f"cut at call {at}"
        database.close()
        if not injector.failure_count:
            break

    assert 20 < at < MAX_STEPS


@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("delivers_between", [False, True], ids=["at once", "later"])
async def test_an_undone_merge_ends_as_before_wherever_it_is_cut(after_effect, delivers_between):
    for at in range(1, MAX_STEPS):
        database = MemoryDatabase()
        world = await build_world(database)
        before = strip_bookkeeping(await world.load_everything())
        injector = FaultInjector(fail_at_call=at, fails_after_effect=after_effect)
        async with open_library(world) as alice:
            answer = await alice.post(f"{CONVERSATIONS}/merge", json=MERGE)
            if delivers_between:
                await world.deliver_all()
        path = f"{CONVERSATIONS}/{answer.json()['merged_conversation_id']}/undo-merge"
        async with open_library(world, injector) as alice:
            await post_until_done(alice, path, injector)
        await world.deliver_all()
        assert strip_bookkeeping(await world.load_everything()) == before, f"cut at call {at}"
        database.close()
        if not injector.failure_count:
            break

    assert at < MAX_STEPS


@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
async def test_a_merge_becomes_final_wherever_that_is_cut(after_effect):
    for at in range(1, MAX_STEPS):
        database = MemoryDatabase()
        world = await build_world(database)
        async with open_library(world) as alice:
            await alice.post(f"{CONVERSATIONS}/merge", json=MERGE)
        await world.deliver_all()
        (task,) = world.tasks.list_by_target("finish_merge")
        injector = FaultInjector(fail_at_call=at, fails_after_effect=after_effect)
        merges = Stores(WatchedPort(world.documents, injector)).merges
        try:
            await merges.finish(ALICE, task.body["id"])
        except Crash:
            injector.is_down = False
            await merges.finish(ALICE, task.body["id"])  # the queue delivers it again
        await world.deliver_all()
        paths = (await world.load_everything())["documents"]
        left = [path for path in paths if any(f"/{name}" in path for name in (*IDS, "merges"))]
        assert left == [], f"cut at call {at}"
        database.close()
        if not injector.failure_count:
            break

    assert 3 < at < MAX_STEPS
