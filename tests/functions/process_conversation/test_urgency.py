"""Urgency: what somebody looks in for, what nobody waits for, and what waits for tokens (D5)."""

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from shared.adapters.admitted_model import AdmittedModels
from shared.domain.rate_budget import build_instance_budget
from shared.resilience.admission import LONGEST_WAIT, Admission
from tests.fakes import AutoAdvanceClock, ScriptedModel
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


@dataclass
class Pool:
    """A pool that has nothing, or whatever is wanted."""

    is_empty: bool = True

    async def lease(self, wanted: float, /, **_: object) -> float:
        return 0.0 if self.is_empty else wanted


async def test_a_conversation_without_tokens_waits_and_is_processed_once_there_are_d5(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        clock, pool = AutoAdvanceClock(), Pool()
        world = build_processing_fixture(database, model, clock=clock)
        budget = build_instance_budget(20_000, 1, clock.now())
        admission = Admission(budget, pool.lease, clock, first_shard=0)
        world.deps = replace(world.deps, model=AdmittedModels(world.deps.model, admission))
        await world.write(build_test_conversation())
        (message,) = await world.run_trigger()
        asked_at = clock.now()
        await world.deliver(message)
        parked = await world.load_conversation()

        pool.is_empty = False
        await world.deliver(message)

    assert parked.waiting_since is not None
    assert parked.waiting_since - asked_at >= LONGEST_WAIT["later"]
    assert (await world.load_conversation()).status == "completed"
