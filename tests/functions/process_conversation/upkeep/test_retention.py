"""Retention: old transcripts lose their text and keep their structure (P34)."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from functions.process_conversation.deps import RetentionDeps
from functions.process_conversation.upkeep.retention import apply_retention
from infra.reindex import reindex
from shared.data.account.quotas import Quotas
from shared.data.conversations.conversations import conversation_path
from shared.data.search.library_index import LibraryIndex
from shared.domain.errors import Unavailable
from shared.domain.store.documents import Set
from shared.library.retention_schedule import schedule_retention
from tests.fault_injection import FaultyPort, raise_unavailable
from tests.fixtures.callers import IDENTITY, SERVICE_IDENTITY
from tests.fixtures.library import BODY, CONVERSATIONS
from tests.fixtures.merging import EchoModel
from tests.fixtures.processing import (
    ALICE,
    TALK,
    ProcessingFixture,
    build_processing_fixture,
    build_test_conversation,
)
from tests.fixtures.storage import MemoryDatabase
from tests.functions.process_conversation.test_interruptions import (
    MAX_STEPS,
    Interruption,
    deliver_until_idle,
)


def build_retention_deps(world: ProcessingFixture, *, vectors: object = None) -> RetentionDeps:
    deps = RetentionDeps(
        identity=IDENTITY,
        service_identity=SERVICE_IDENTITY,
        clock=world.clock,
        claims=world.deps.claims,
        tasks=world.tasks,
        stores=world.deps.stores,
        quotas=Quotas(world.documents, {}),
        blobs=world.blobs,
        index=world.deps.index,
    )
    return deps if vectors is None else replace(deps, index=LibraryIndex(vectors))  # type: ignore[arg-type]


async def choose_retention(world: ProcessingFixture, days: int) -> datetime:
    """Choose as the profile's route does; return when."""
    now = world.clock.now()
    profile = await world.deps.stores.profiles.change(
        ALICE, retention_days=days, retention_set_at=now
    )
    await schedule_retention(world.tasks, ALICE, profile, at=now)
    return now


@pytest.fixture
async def set_at(world: ProcessingFixture, alice) -> datetime:
    """Process a conversation, and choose to keep transcripts for a week."""
    await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()
    return await choose_retention(world, 7)


async def read_texts(world: ProcessingFixture) -> str:
    """Return all that is stored of the user: documents and rows."""
    return str(await world.load_everything())


async def test_an_old_transcript_goes_and_its_structure_stays_p34(world, alice, set_at) -> None:
    before = (await alice.get(f"{CONVERSATIONS}/talk")).json()
    memories = (await alice.get("/v3/memories")).json()
    world.clock.advance(days=8)

    await apply_retention(build_retention_deps(world), ALICE, set_at=set_at)
    await world.deliver_all()

    after = (await alice.get(f"{CONVERSATIONS}/talk")).json()
    assert (after["transcript_segments"], after["status"]) == ([], "completed")
    assert after["structured"] == before["structured"]
    assert (await alice.get("/v3/memories")).json() == memories
    assert BODY["transcript_segments"][0]["text"] not in await read_texts(world)
    assert [
        row for row in await world.list_row_ids() if "#" in row and not row.endswith("#m")
    ] == []
    assert await world.search_ids("launch in Berlin") == ["talk"]
    usage = await Quotas(world.documents, {}).load_usage(ALICE, world.clock.now())
    assert usage["stored_bytes"] == 0


async def test_a_young_transcript_stays_p34(world, set_at) -> None:
    before = await world.load_everything()
    world.clock.advance(days=6)

    await apply_retention(build_retention_deps(world), ALICE, set_at=set_at)

    assert await world.load_everything() == before


async def test_deleting_transcripts_calls_no_model_and_publishes_nothing_p34(world, set_at) -> None:
    await world.run_trigger()
    world.clock.advance(days=8)

    await apply_retention(build_retention_deps(world), ALICE, set_at=set_at)

    assert await world.run_trigger() == []


async def test_an_interrupted_run_is_completed_and_a_repeated_one_changes_nothing_p34(
    world, set_at
) -> None:
    world.clock.advance(days=8)
    broken = FaultyPort(world.vectors, delete=[raise_unavailable])
    with pytest.raises(Unavailable):
        await apply_retention(build_retention_deps(world, vectors=broken), ALICE, set_at=set_at)

    await apply_retention(build_retention_deps(world), ALICE, set_at=set_at)
    first = await world.load_everything()
    await apply_retention(build_retention_deps(world), ALICE, set_at=set_at)

    assert await world.load_everything() == first
    assert BODY["transcript_segments"][0]["text"] not in str(first)


async def test_hundreds_of_stored_answers_go_with_their_text_p34(world, set_at) -> None:
    await store_answers(world, 501)
    world.clock.advance(days=8)

    await apply_retention(build_retention_deps(world), ALICE, set_at=set_at)

    assert (await world.load_conversation()).transcript_segments == ()
    assert "An old answer" not in await read_texts(world)


@pytest.mark.usefixtures("set_at")
async def test_hundreds_of_stored_answers_are_forgotten_where_all_is_asked_again(world) -> None:
    await store_answers(world, 501)

    await world.deps.stores.conversations.reopen(ALICE, TALK, now=world.clock.now())

    assert "An old answer" not in await read_texts(world)


async def store_answers(world: ProcessingFixture, count: int) -> None:
    path = conversation_path(ALICE, TALK)
    for n in range(count):
        await world.documents.write(Set(f"{path}/answers/a{n}", {"answer": "An old answer"}))


async def test_a_reindex_brings_no_text_back_p34(world, set_at) -> None:
    world.clock.advance(days=8)
    await apply_retention(build_retention_deps(world), ALICE, set_at=set_at)
    rows = await world.list_row_ids()

    await reindex(ALICE, world.deps.stores, world.deps.index, Quotas(world.documents, {}))

    assert await world.list_row_ids() == rows


async def test_an_edit_of_a_conversation_without_text_keeps_its_structure_p34(
    world, alice, set_at
) -> None:
    world.clock.advance(days=8)
    await apply_retention(build_retention_deps(world), ALICE, set_at=set_at)

    await alice.patch(f"{CONVERSATIONS}/talk", json={"title": "A better title"})
    await world.deliver_all()
    again = await alice.post(f"{CONVERSATIONS}/talk/reprocess")

    structured = (await alice.get(f"{CONVERSATIONS}/talk")).json()["structured"]
    assert (structured["title"], structured["overview"]) == (
        "A better title",
        "The launch moved to May.",
    )
    assert again.status_code == 409
    assert await world.search_ids("better title") == ["talk"]


async def test_each_run_schedules_the_next_day_until_the_setting_changes_p34(world, set_at) -> None:
    deps = build_retention_deps(world)
    world.clock.advance(days=1)
    await apply_retention(deps, ALICE, set_at=set_at)
    planned = [task.at for task in world.tasks.list_by_target("apply_retention")]
    world.clock.advance(hours=1)
    await choose_retention(world, 0)
    await apply_retention(deps, ALICE, set_at=set_at)

    assert planned == [set_at, set_at + timedelta(days=2)]
    assert [task.at for task in world.tasks.list_by_target("apply_retention")] == planned


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_an_attempt_whose_lease_ran_out_brings_no_text_back_p34(after) -> None:
    for at in range(1, MAX_STEPS):
        database = MemoryDatabase()
        other = build_processing_fixture(database, EchoModel())
        chosen_at = await choose_retention(other, 7)
        other.clock.advance(days=8)

        async def delete_text(
            other: ProcessingFixture = other, chosen_at: datetime = chosen_at
        ) -> None:
            other.clock.advance(seconds=11)
            await apply_retention(build_retention_deps(other), ALICE, set_at=chosen_at)

        interruption = Interruption(at, delete_text, after)
        world = build_processing_fixture(
            database, EchoModel(), interruption.wrap, clock=other.clock
        )
        await world.write(build_test_conversation("Call Ann.", *(f"Line {n}." for n in range(9))))
        await deliver_until_idle(world)
        end = await other.load_everything()
        conversation = await other.load_conversation()
        rows = await other.list_row_ids()
        database.close()
        if not interruption.done:
            break
        assert conversation.transcript_deleted_at, f"deleted at call {at}"
        assert (conversation.transcript_segments, conversation.chunk_count) == ((), 0)
        assert not [path for path in end["documents"] if "/answers/" in path], f"at call {at}"
        assert not [row for row in rows if "#" in row and not row.endswith("#m")], f"at call {at}"

    assert 10 < at < MAX_STEPS
