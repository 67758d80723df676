"""P29: what was given up is written down, its conversation says so, and a replay mends it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from functions.process_conversation.bury import bury
from functions.process_conversation.wiring import BuryDeps
from shared.data.dead_letters import DeadLetters
from shared.domain.dead_letter import DeadLetter, Ids
from shared.domain.errors import Unavailable
from tests.doubles import ScriptedModel
from tests.functions.process_conversation.world import (
    ALICE,
    START,
    STRUCTURE,
    TALK,
    World,
    answers,
    script,
    talk,
    world_on,
)


def letter(ids: Ids) -> DeadLetter:
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


def deps(world: World) -> BuryDeps:
    return BuryDeps(
        identity=world.deps.identity,
        service_identity=world.deps.service_identity,
        dead_letters=DeadLetters(world.documents),
        claims=world.deps.claims,
    )


def outages(count: int, then: dict[str, Any]) -> ScriptedModel:
    rounds = script(then)
    rounds[STRUCTURE] = [*(Unavailable("down") for _ in range(count)), *rounds[STRUCTURE]]
    return ScriptedModel(answers=rounds)


async def test_a_model_down_for_all_attempts_leaves_a_failed_conversation_that_a_replay_mends_p29(
    database,
):
    with outages(10, then=answers()) as model:
        world = world_on(database, model)
        await world.write(talk())
        (message,) = await world.tell()
        for _ in range(10):
            with pytest.raises(Unavailable):
                await world.deliver(message)

        await bury(deps(world), letter(message))
        given_up = await world.stored()
        await world.deliver(message)

    assert (given_up.status, given_up.failure) == (
        "failed",
        "It could not be processed in 10 attempts.",
    )
    mended = await world.stored()
    assert (mended.status, mended.failure) == ("completed", None)


async def test_a_dead_letter_holds_ids_and_reason_and_no_content_p29(database):
    world = world_on(database, ScriptedModel())
    message = {"uid": ALICE, "conversation_id": TALK, "content_hash": "x"}

    await bury(deps(world), letter(message))
    await bury(deps(world), letter(message))

    (found,) = await DeadLetters(world.documents).newest()
    assert found == letter(message)


async def test_a_conversation_that_is_done_stays_done_whatever_died(database):
    with ScriptedModel(answers=script(answers())) as model:
        world = world_on(database, model)
        await world.write(talk())
        (message,) = await world.tell()
        await world.deliver(message)

        await bury(deps(world), letter(message))

    assert (await world.stored()).status == "completed"


async def test_an_attempt_at_work_is_waited_for_before_it_is_called_failed(database):
    world = world_on(database, ScriptedModel())
    await world.write(talk())
    (message,) = await world.tell()
    await world.deps.claims.take(ALICE, TALK, said=message["content_hash"])

    with pytest.raises(Unavailable):
        await bury(deps(world), letter(message))
    world.clock.pass_(seconds=121)
    await bury(deps(world), letter(message))

    assert (await world.stored()).status == "failed"


@pytest.mark.parametrize("ids", [{}, {"uid": ALICE}, {"uid": ALICE, "conversation_id": "gone"}])
async def test_a_letter_about_nothing_that_is_there_is_only_written_down(database, ids):
    world = world_on(database, ScriptedModel())

    await bury(deps(world), letter(ids))

    (found,) = await DeadLetters(world.documents).newest()
    assert found.ids == ids
    assert await world.everything() == {"documents": {}, "rows": []}


async def test_a_letter_that_was_replaced_is_not_removed_with_the_one_sent_again(database):
    letters = DeadLetters(world_on(database, ScriptedModel()).documents)
    first = letter({"uid": ALICE})
    second = replace(first, last_at=first.last_at + timedelta(minutes=9))
    await letters.put(first)
    await letters.put(second)

    await letters.remove(first)
    kept = await letters.newest()
    await letters.remove(second)

    assert kept == [second]
    assert await letters.newest() == []
