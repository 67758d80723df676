"""Urgency: what somebody looks in for, and what nobody waits for (D5)."""

from datetime import timedelta

import pytest

from tests.fakes import ScriptedModel
from tests.fixtures.processing import (
    build_outputs,
    build_processing_fixture,
    build_script,
    build_test_conversation,
)


@pytest.mark.parametrize(
    ("age", "urgency"), [(timedelta(minutes=5), "soon"), (timedelta(days=300), "later")]
)
async def test_a_new_conversation_is_read_soon_and_an_old_one_that_was_imported_later_d5(
    database, age, urgency
):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        ended_at = world.clock.now() - age
        await world.write(build_test_conversation(started_at=ended_at, finished_at=ended_at))

        await world.deliver_all()

    assert world.urgencies == [urgency]


async def test_what_is_processed_again_is_read_later_d5(database):
    talk = build_test_conversation
    with ScriptedModel(answers=build_script(build_outputs(), build_outputs())) as model:
        world = build_processing_fixture(database, model)
        now = world.clock.now()
        await world.write(talk(finished_at=now))
        await world.deliver_all()

        await world.write(talk("I'm allergic to peanuts, still.", finished_at=now))
        await world.deliver_all()

    assert world.urgencies == ["soon", "later"]
