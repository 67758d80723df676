"""Interruptions of an import: cut at any call, and delivered twice, it ends as one clean run (U1)."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from functions.library.routes import LIBRARY_ROUTES
from shared.data.account.quotas import Quotas
from shared.data.search.library_index import LibraryIndex
from shared.data.stores import Stores
from shared.domain.account.quota import EMBEDDED_LIMITS
from shared.domain.errors import Unavailable
from shared.library.deps import LibraryDeps
from tests.fault_injection import Crash, FaultInjector, WatchedPort
from tests.fixtures.callers import build_auth_headers, open_client
from tests.fixtures.imports import (
    CHAT,
    CHAT_NAME,
    build_zip,
    deliver_import_tasks,
    deliver_task,
    list_due,
    post_files,
)
from tests.fixtures.library import build_library_deps
from tests.fixtures.merging import EchoModel
from tests.fixtures.processing import ALICE, ProcessingFixture, build_processing_fixture
from tests.fixtures.storage import MemoryDatabase
from tests.functions.imports.test_untrusted_exports import EXPORT

MAX_STEPS = 200
FILES: dict[str, str | bytes] = {
    CHAT_NAME: CHAT,
    "export.zip": build_zip(
        {
            "talk.txt": "Ann: Hello.\nBo: Hi.\n",
            "memories.json": '[{"id": "m", "content": "I like tea"}]',
            "action_items.json": '[{"id": "t", "description": "Buy tea"}]',
            "people.json": '[{"id": "p", "name": "Hilde"}]',
        }
    ),
}


def build_watched(world: ProcessingFixture, injector: FaultInjector) -> LibraryDeps:
    """Return dependencies whose every call may be cut off."""
    documents = WatchedPort(world.documents, injector)
    return replace(
        build_library_deps(world),
        stores=Stores(documents),
        quotas=Quotas(documents, EMBEDDED_LIMITS),
        index=LibraryIndex(WatchedPort(world.vectors, injector)),
        tasks=WatchedPort(world.tasks, injector),
        blobs=WatchedPort(world.blobs, injector),
    )


async def start(world: ProcessingFixture, files: Mapping[str, str | bytes] = FILES) -> None:
    deps = build_library_deps(world)
    async with open_client("library", LIBRARY_ROUTES, deps, build_auth_headers(ALICE)) as alice:
        await post_files(alice, files)


async def deliver_until_done(world: ProcessingFixture, injector: FaultInjector) -> None:
    """Deliver as the queue does: a call that failed comes again, by a process that is up."""
    done = 0
    for _ in range(30):
        due = list_due(world)
        if done == len(due):
            return
        deps = build_watched(world, injector)  # another process: it remembers no reservation
        try:
            await deliver_task(deps, due[done].body)
        except (Crash, Unavailable):
            injector.is_down = False
        else:
            done += 1
    raise AssertionError("it never becomes quiet")


async def load_end(world: ProcessingFixture) -> dict[str, Any]:
    everything = await world.load_everything()
    everything["files"] = sorted(world.blobs.files)
    return everything


async def compute_expected_end(files: Mapping[str, str | bytes] = FILES) -> dict[str, Any]:
    database = MemoryDatabase()
    world = build_processing_fixture(database, EchoModel())
    await start(world, files)
    await deliver_import_tasks(world, build_library_deps(world))
    end = await load_end(world)
    database.close()
    return end


@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "files", [FILES, {"export.json": json.dumps(EXPORT)}], ids=["files", "export"]
)
async def test_an_import_that_is_cut_at_any_call_ends_the_same_u1(files, after_effect):
    expected = await compute_expected_end(files)

    for at in range(1, MAX_STEPS):
        database = MemoryDatabase()
        world = build_processing_fixture(database, EchoModel())
        await start(world, files)
        injector = FaultInjector(fail_at_call=at, fails_after_effect=after_effect)
        await deliver_until_done(world, injector)
        assert await load_end(world) == expected, f"cut at call {at}"
        database.close()
        if not injector.failure_count:
            break

    assert 20 < at < MAX_STEPS


async def test_tasks_that_come_again_change_nothing():
    database = MemoryDatabase()
    world = build_processing_fixture(database, EchoModel())
    await start(world)
    for _ in range(2):
        await deliver_import_tasks(world, build_library_deps(world))
    end = await load_end(world)
    database.close()

    assert end == await compute_expected_end()


@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
async def test_handing_in_files_is_whole_or_nothing(after_effect):
    expected = await compute_expected_end()

    for at in range(1, MAX_STEPS):
        database = MemoryDatabase()
        world = build_processing_fixture(database, EchoModel())
        injector = FaultInjector(fail_at_call=at, fails_after_effect=after_effect)
        await start_until_accepted(world, injector)
        await deliver_import_tasks(world, build_library_deps(world))
        documents = (await world.load_everything())["documents"]
        assert list_library(documents) == list_library(expected["documents"]), f"at {at}"
        database.close()
        if not injector.failure_count:
            break

    assert 5 < at < MAX_STEPS


async def start_until_accepted(world: ProcessingFixture, injector: FaultInjector) -> None:
    deps = build_watched(world, injector)
    files = [("files", (name, content)) for name, content in FILES.items()]
    async with open_client("library", LIBRARY_ROUTES, deps, build_auth_headers(ALICE)) as alice:
        for _ in range(2):
            answer = await alice.post("/v1/imports", files=files)
            if answer.status_code == 202:
                return
            injector.is_down = False
    raise AssertionError("it is never accepted")


def list_library(documents: dict[str, Any]) -> list[str]:
    return sorted(path for path in documents if "/imports/" not in path)
