"""Older due work: what has no shard in Firestore is found again after one walk over the users (F5)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from functions.process_conversation.upkeep.older_due import COLLECTIONS, USERS_A_TASK, walk_page
from functions.process_conversation.upkeep.sweep import sweep
from shared.adapters.cloud.firestore_documents import DUE_GROUPS
from shared.domain.errors import Invalid, Unavailable
from shared.domain.store.documents import Set
from tests.fakes import ScriptedModel
from tests.fault_injection import FaultyPort, raise_unavailable, succeed
from tests.fixtures.processing import ProcessingFixture, build_processing_fixture
from tests.functions.process_conversation.upkeep.test_sweep import build_deps

HOUR = timedelta(hours=1)


@pytest.fixture
def world(database) -> ProcessingFixture:
    return build_processing_fixture(database, ScriptedModel())


async def run_hour(world: ProcessingFixture, **ports: Any) -> int:
    """Let an hour's sweep begin, and run its walk; return how many tasks that took."""
    world.clock.advance(seconds=HOUR.total_seconds() - world.clock.now().minute * 60)
    await sweep(build_deps(world))
    count = 0
    while tasks := [t for t in world.tasks.list_by_target("sweep") if (t.body or {}).get("walks")]:
        for task in tasks:
            world.tasks.created.remove(task)
            deps = replace(build_deps(world), **ports)
            await walk_page(deps, after=(task.body or {})["after"])
            count += 1
    return count


async def list_versions(world: ProcessingFixture, users: int) -> dict[str, Any]:
    paths = [f"users/u{n:02}/{name}/x" for n in range(users) for name in COLLECTIONS]
    found = await world.documents.get_many(paths)
    return {each.path: each.version for each in found if each is not None}


async def store_due(world: ProcessingFixture, users: int, *, due_in: timedelta | None) -> None:
    due_at = due_in and world.clock.now() + due_in
    for number in range(users):
        for name in COLLECTIONS:
            await world.documents.write(Set(f"users/u{number:02}/{name}/x", {"due_at": due_at}))


def test_every_collection_that_has_shards_is_walked_f5() -> None:
    assert set(COLLECTIONS) == DUE_GROUPS


async def test_what_is_due_of_every_user_is_written_once_more_and_never_again_f5(world):
    users = USERS_A_TASK + 1
    await store_due(world, users, due_in=timedelta(days=300))
    before = await list_versions(world, users)

    assert await run_hour(world) == 2
    after = await list_versions(world, users)
    assert await run_hour(world) == 0

    assert all(after[path] != version for path, version in before.items())
    assert await list_versions(world, users) == after


async def test_what_is_not_due_stays_as_it_is_f5(world):
    await store_due(world, 1, due_in=None)
    before = await list_versions(world, 1)

    await run_hour(world)

    assert await list_versions(world, 1) == before


async def test_a_walk_that_stops_goes_on_where_it_was_the_next_hour_f5(world):
    users, first_page = 2 * USERS_A_TASK, len(COLLECTIONS) * USERS_A_TASK + 1
    await store_due(world, users, due_in=timedelta(days=300))
    documents: Any = FaultyPort(world.documents, write=[*[succeed] * first_page, raise_unavailable])

    with pytest.raises(Unavailable):
        await run_hour(world, documents=documents)
    written = await list_versions(world, users)
    await run_hour(world)
    last = await list_versions(world, users)

    again = {path for path in last if last[path] != written[path]}
    assert again == {path for path in last if path >= f"users/u{USERS_A_TASK:02}"}


async def test_a_walk_whose_place_the_store_forgot_begins_anew_f5(world):
    users = USERS_A_TASK + 1
    await store_due(world, users, due_in=timedelta(days=300))
    before = await list_versions(world, users)

    async def forget(_: Any) -> None:
        raise Invalid("Invalid page token")

    users_listed: Any = FaultyPort(build_deps(world).user_list, list_users=[succeed, forget])
    assert await run_hour(world, user_list=users_listed) == 2
    assert await run_hour(world) == 2

    after = await list_versions(world, users)
    assert all(after[path] != version for path, version in before.items())
