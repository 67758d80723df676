"""Dead letters: recorded, marked on their conversation, and repaired by a replay (P29)."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from functions.process_conversation.deps import DeadLetterDeps
from functions.process_conversation.upkeep.dead_letters import record_dead_letter
from shared.adapters.system_clock import RandomIds
from shared.data.conversations.conversations import conversation_path
from shared.data.store.dead_letters import DeadLetters
from shared.data.stores import Stores
from shared.domain.conversations.claim import PATIENT_ATTEMPTS, SUSPECT_ATTEMPTS
from shared.domain.errors import ModelUnreachable, Unavailable
from shared.domain.store.dead_letter import DeadLetter, Ids
from tests.fakes import ScriptedModel
from tests.fixtures.library import build_erasures
from tests.fixtures.processing import (
    ALICE,
    CLAIM,
    EXTRACTION,
    START,
    TALK,
    ProcessingFixture,
    build_outputs,
    build_processing_fixture,
    build_script,
    build_test_conversation,
    fail_vectors,
)

TALK_PATH = conversation_path(ALICE, TALK)


def build_letter(ids: Ids) -> DeadLetter:
    return DeadLetter(
        id="0123456789abcdef0123",
        kind="event",
        name="conversation.changed",
        target="process_conversation",
        ids=ids,
        reason="status 503",
        attempts=10,
        first_at=START,
        last_at=START + timedelta(minutes=4),
    )


def build_deps(world: ProcessingFixture) -> DeadLetterDeps:
    return DeadLetterDeps(
        identity=world.deps.identity,
        service_identity=world.deps.service_identity,
        clock=world.clock,
        new_id=RandomIds(),
        stores=Stores(world.documents),
        erasures=build_erasures(world.documents),
    )


@pytest.mark.parametrize(
    "letter",
    [
        build_letter({"uid": ALICE, "id": "m1"}),
        replace(build_letter({}), kind="trigger", name=TALK_PATH),
    ],
    ids=["event", "trigger"],
)
async def test_a_message_that_is_given_up_after_its_user_was_erased_leaves_no_letter_s6(
    world, letter
):
    deps = build_deps(world)
    await build_erasures(world.documents).begin(ALICE, START + timedelta(minutes=1))

    await record_dead_letter(deps, letter)
    others = build_letter({"uid": "bob"})
    await record_dead_letter(deps, others)

    assert await DeadLetters(world.documents).list_newest() == [others]


async def test_a_conversation_that_ended_its_workers_is_completed_by_a_replay_p29(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        (message,) = await world.run_trigger()
        await end_workers(world, message)

        await record_dead_letter(build_deps(world), build_letter(message))
        failed_conversation = await world.load_conversation()
        await world.deliver(message)

    assert (failed_conversation.status, failed_conversation.failure) == (
        "failed",
        "Something that processing needs did not answer. It was tried 10 times.",
    )
    replayed_conversation = await world.load_conversation()
    assert (replayed_conversation.status, replayed_conversation.failure) == ("completed", None)


async def end_workers(world: ProcessingFixture, message: Mapping[str, str]) -> None:
    """Let attempts begin, each in a process that dies."""
    for _ in range(SUSPECT_ATTEMPTS):
        await world.deps.claims.acquire(ALICE, TALK, message_hash=message["content_hash"])
        world.clock.advance(seconds=11)


async def test_an_outage_of_the_index_fails_nothing_however_long_it_is_d6(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model, fail_vectors(10))
        await world.write(build_test_conversation())
        (message,) = await world.run_trigger()
        for _ in range(PATIENT_ATTEMPTS):
            with pytest.raises(Unavailable):
                await world.deliver(message)
        await world.deliver(message)
        waiting = await world.load_conversation()
        while (await world.load_conversation()).status == "processing":
            with suppress(Unavailable):
                await world.deliver(message)

    assert waiting.waiting_since == world.clock.now()
    assert waiting.failure is None
    assert (await world.load_conversation()).waiting_since is None


async def test_a_conversation_that_no_attempt_could_begin_waits_for_the_store_d6(database):
    """Every call failed while its claim was to be read, until the message was given up."""
    world = build_processing_fixture(database, ScriptedModel())
    await world.write(build_test_conversation())
    (message,) = await world.run_trigger()

    await record_dead_letter(build_deps(world), build_letter(message))

    conversation = await world.load_conversation()
    claim = await world.documents.get(CLAIM)
    assert (conversation.status, conversation.failure) == ("processing", None)
    assert conversation.waiting_since == world.clock.now()
    assert claim is not None
    assert claim.fields["due_at"] == world.clock.now() + timedelta(seconds=5)
    assert claim.fields["said"] == message["content_hash"]


async def test_the_cause_of_the_last_outage_is_told_after_the_last_attempt_u9(database):
    script = {EXTRACTION: [Unavailable("down"), ModelUnreachable("refused")]}
    with ScriptedModel(answers=script) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        (message,) = await world.run_trigger()
        for _ in range(2):
            await world.deliver(message)
        await end_workers(world, message)

        await record_dead_letter(build_deps(world), build_letter(message))

    failure = (await world.load_conversation()).failure_report
    assert failure is not None
    assert (failure.reason, failure.detail) == (
        "no_connection",
        (
            "There is no connection to the language model. Those who run this server can see why "
            "in its log. It was tried 10 times."
        ),
    )


async def test_a_dead_letter_holds_ids_and_reason_and_no_content_p29(database):
    world = build_processing_fixture(database, ScriptedModel())
    message = {"uid": ALICE, "conversation_id": TALK, "content_hash": "x"}

    await record_dead_letter(build_deps(world), build_letter(message))
    await record_dead_letter(build_deps(world), build_letter(message))

    (stored_letter,) = await DeadLetters(world.documents).list_newest()
    assert stored_letter == build_letter(message)


async def test_a_completed_conversation_stays_completed_after_a_dead_letter(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        (message,) = await world.run_trigger()
        await world.deliver(message)

        await record_dead_letter(build_deps(world), build_letter(message))

    assert (await world.load_conversation()).status == "completed"


async def test_a_dead_letter_is_retried_while_an_attempt_is_running(database):
    world = build_processing_fixture(database, ScriptedModel())
    await world.write(build_test_conversation())
    (message,) = await world.run_trigger()
    await end_workers(world, message)
    await world.deps.claims.acquire(ALICE, TALK, message_hash=message["content_hash"])

    with pytest.raises(Unavailable):
        await record_dead_letter(build_deps(world), build_letter(message))
    world.clock.advance(seconds=11)
    await record_dead_letter(build_deps(world), build_letter(message))

    assert (await world.load_conversation()).status == "failed"


@pytest.mark.parametrize("ids", [{}, {"uid": ALICE}, {"uid": ALICE, "conversation_id": "gone"}])
async def test_a_dead_letter_without_a_conversation_is_only_recorded(database, ids):
    world = build_processing_fixture(database, ScriptedModel())

    await record_dead_letter(build_deps(world), build_letter(ids))

    (stored_letter,) = await DeadLetters(world.documents).list_newest()
    assert stored_letter.ids == ids
    assert await world.load_everything() == {"documents": {}, "rows": []}


async def test_removing_a_replayed_dead_letter_keeps_its_newer_version(database):
    letters = DeadLetters(build_processing_fixture(database, ScriptedModel()).documents)
    first = build_letter({"uid": ALICE})
    second = replace(first, last_at=first.last_at + timedelta(minutes=9))
    await letters.put(first)
    await letters.put(second)

    await letters.remove(first)
    remaining_letters = await letters.list_newest()
    await letters.remove(second)

    assert remaining_letters == [second]
    assert await letters.list_newest() == []


async def test_a_conversation_whose_attempts_ended_with_a_word_does_not_begin_anew_p29(database):
    """A part of its transcript never comes: each attempt says so, and its message comes again."""
    world = build_processing_fixture(database, ScriptedModel())
    incomplete = replace(build_test_conversation(), transcript_segments=(), parts=("0" * 64,))
    await world.write(incomplete)
    (message,) = await world.run_trigger()
    for _ in range(2):
        with pytest.raises(Unavailable):
            await world.deliver(message)

    await record_dead_letter(build_deps(world), build_letter(message))

    conversation, claim = await world.documents.get(TALK_PATH), await world.documents.get(CLAIM)
    assert conversation is not None
    assert claim is not None
    assert (conversation.fields["status"], conversation.fields["waiting_since"]) == ("failed", None)
    assert claim.fields["due_at"] is None
