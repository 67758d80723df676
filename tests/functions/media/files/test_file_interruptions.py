"""Interruptions of reading: cut at any call and delivered again, a file ends as in one clean run (X7)."""

from dataclasses import replace
from typing import Any

import pytest

from functions.media.files.read_file import read_file
from shared.data.search.file_index import FileIndex
from shared.domain.errors import Unavailable
from shared.library.files import forget_file, start_file
from shared.library.uploads import store_file
from tests.fault_injection import Crash, FaultInjector
from tests.fixtures.documents import build_pdf
from tests.fixtures.merging import EchoModel
from tests.fixtures.processing import ALICE, ProcessingFixture, build_processing_fixture
from tests.fixtures.storage import MemoryDatabase
from tests.functions.media.files.world import build_deps, build_watched

MAX_STEPS = 40
COUNTED = ("attempt_count", "created_at")


async def hand_in(world: ProcessingFixture) -> str:
    deps = build_deps(world)
    content = build_pdf("The keel is of oak")
    upload = await store_file(deps, ALICE, content, name="plan.pdf", media_type="")
    return (await start_file(deps, ALICE, upload.id)).id


async def load_end(world: ProcessingFixture) -> dict[str, Any]:
    end = await world.load_everything()
    for path, fields in end["documents"].items():
        if "/files/" in path:
            end["documents"][path] = {k: v for k, v in fields.items() if k not in COUNTED}
    return {**end, "blobs": dict(world.blobs.files)}


async def compute_clean_end() -> dict[str, Any]:
    database = MemoryDatabase()
    world = build_processing_fixture(database, EchoModel())
    await read_file(build_deps(world), ALICE, await hand_in(world))
    end = await load_end(world)
    database.close()
    return end


@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
async def test_a_file_whose_reading_is_cut_at_any_call_is_read_once_x7(after_effect) -> None:
    expected = await compute_clean_end()

    for at in range(1, MAX_STEPS):
        database = MemoryDatabase()
        world = build_processing_fixture(database, EchoModel())
        file_id = await hand_in(world)
        injector = FaultInjector(fail_at_call=at, fails_after_effect=after_effect)
        for _ in range(3):
            try:
                await read_file(build_watched(world, injector), ALICE, file_id)
            except (Crash, Unavailable):
                injector.is_down = False
        assert await load_end(world) == expected, f"cut at call {at}"
        database.close()
        if not injector.failure_count:
            break

    assert 5 < at < MAX_STEPS


@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
async def test_a_deletion_that_is_cut_at_any_call_leaves_nothing_in_the_end(
    after_effect,
) -> None:
    for at in range(1, MAX_STEPS):
        database = MemoryDatabase()
        world = build_processing_fixture(database, EchoModel())
        file_id = await hand_in(world)
        await read_file(build_deps(world), ALICE, file_id)
        injector = FaultInjector(fail_at_call=at, fails_after_effect=after_effect)
        for _ in range(3):
            try:
                await forget_file(build_watched(world, injector), ALICE, file_id)
            except (Crash, Unavailable):
                injector.is_down = False
        assert world.blobs.files == {}, f"cut at call {at}"
        assert await world.list_row_ids() == []
        assert await build_deps(world).stores.files.find_all(ALICE, [file_id]) == [None]
        database.close()
        if not injector.failure_count:
            break

    assert 3 < at < MAX_STEPS


async def test_a_file_that_is_deleted_while_it_is_read_leaves_nothing() -> None:
    database = MemoryDatabase()
    world = build_processing_fixture(database, EchoModel())
    deps = build_deps(world)
    file_id = await hand_in(world)

    class DeletingIndex(FileIndex):
        async def put(self, *args: Any) -> None:
            await forget_file(deps, ALICE, file_id)
            await super().put(*args)

    await read_file(replace(deps, file_index=DeletingIndex(world.vectors)), ALICE, file_id)

    assert world.blobs.files == {}
    assert await world.list_row_ids() == []
    database.close()
