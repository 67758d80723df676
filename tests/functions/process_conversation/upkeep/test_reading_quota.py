"""Quota of what models read of conversations: beyond it they wait for the next day, and their owner is told (S5)."""

from dataclasses import replace
from datetime import timedelta

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.data.account.quotas import Quotas
from shared.domain.conversations.claim import DAY_SPREAD
from tests.fakes import ScriptedModel
from tests.fixtures.processing import (
    ALICE,
    ProcessingFixture,
    build_outputs,
    build_processing_fixture,
    build_script,
    build_test_conversation,
)
from tests.functions.process_conversation.upkeep.test_sweep import (
    BOB,
    MINUTE,
    load_claim,
    run_sweep,
)

ENOUGH = 2_000
"""Tokens that one conversation of the tests takes, and not two."""


def build_world(database: SqliteDatabase, model: ScriptedModel, tokens: int) -> ProcessingFixture:
    world = build_processing_fixture(database, model)
    quotas = Quotas(world.documents, {"reading_tokens": tokens})
    world.deps = replace(world.deps, quotas=quotas)
    return world


async def wait_for_next_day(world: ProcessingFixture) -> None:
    due_at = (await load_claim(world)).fields["due_at"]
    world.clock.advance(seconds=(due_at - world.clock.now()).total_seconds() + 1)
    await run_sweep(world)


async def test_what_a_client_writes_beyond_a_days_tokens_is_found_by_its_words_and_read_the_next_day_s5(
    database: SqliteDatabase,
) -> None:
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_world(database, model, ENOUGH)
        await world.deps.quotas.take(ALICE, "reading_tokens", ENOUGH, now=world.clock.now())
        await world.write(build_test_conversation())
        await world.deliver_all()
        waiting, rows = await world.load_conversation(), await world.list_row_ids()
        asked = len(model.prompts)

        await wait_for_next_day(world)

    assert (waiting.status, waiting.failure_reason, asked) == ("processing", "day_used_up", 0)
    assert rows
    assert waiting.failure is not None
    assert "continues at 00:00 UTC" in waiting.failure
    read = await world.load_conversation()
    assert (read.status, read.failure, read.waiting_since) == ("completed", None, None)


async def test_a_conversation_that_is_changed_again_and_again_is_read_as_often_as_the_day_allows_s5(
    database: SqliteDatabase,
) -> None:
    with ScriptedModel(answers=build_script(build_outputs(), build_outputs())) as model:
        world = build_world(database, model, ENOUGH)
        talk = build_test_conversation()
        for n in range(5):
            (first, *rest) = talk.transcript_segments
            segments = (replace(first, text=f"{first.text} {n}"), *rest)
            await world.write(replace(talk, transcript_segments=segments))
            await world.deliver_all()
        asked = len(model.prompts)
        await wait_for_next_day(world)

    assert asked == 1
    assert (await world.load_conversation()).status == "completed"


async def test_who_waits_for_a_new_day_is_neither_tried_before_nor_keeps_others_from_it_s5(
    database: SqliteDatabase,
) -> None:
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_world(database, model, ENOUGH)
        await world.deps.quotas.take(ALICE, "reading_tokens", ENOUGH, now=world.clock.now())
        await world.write(build_test_conversation())
        await world.write(build_test_conversation(), BOB)
        await world.deliver_all()
        day_end = world.clock.now().replace(hour=0, minute=0) + timedelta(days=1)
        tried = 0
        while world.clock.now() + 10 * MINUTE < day_end:
            world.clock.advance(minutes=10)
            tried += await run_sweep(world)

    due_at = (await load_claim(world)).fields["due_at"]
    assert tried == 0
    assert day_end <= due_at < day_end + DAY_SPREAD
    assert (await world.load_conversation(BOB)).status == "completed"
