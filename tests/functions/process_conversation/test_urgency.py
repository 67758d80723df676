"""Urgency: what somebody looks in for, what nobody waits for, and what waits for tokens (D5)."""

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.process_conversation.processing.urgency import choose_urgency
from shared.adapters.admitted_model import AdmittedModels
from shared.domain.models.rate_budget import build_instance_budget
from shared.resilience.admission import LONGEST_WAIT, Admission
from tests.fakes import AutoAdvanceClock, ScriptedModel
from tests.fixtures.processing import (
    START,
    build_outputs,
    build_processing_fixture,
    build_script,
    build_test_conversation,
)

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@pytest.mark.parametrize(
    ("arrived", "ended", "urgency"),
    [
        (timedelta(), 5 * MINUTE, "soon"),
        (timedelta(), 300 * DAY, "later"),
        (59 * MINUTE, -DAY, "soon"),
        (HOUR, -DAY, "later"),
        (HOUR, timedelta(), "later"),
    ],
)
def test_our_clock_decides_how_long_a_recording_is_new_d5(
    arrived: timedelta, ended: timedelta, urgency: str
) -> None:
    talk = build_test_conversation(finished_at=START - ended, listed_at=START - arrived)
    waiting = replace(talk, listed_at=START, waiting_since=START - arrived)

    assert [choose_urgency(each, START) for each in (talk, waiting)] == [urgency] * 2


@given(st.timedeltas(-2 * DAY, 2 * DAY))
def test_an_import_is_read_later_whatever_it_says_of_its_end_d5(ended: timedelta) -> None:
    talk = build_test_conversation(finished_at=START - ended)

    assert choose_urgency(replace(talk, is_imported=True), START) == "later"


@pytest.mark.parametrize(("age", "urgency"), [(5 * MINUTE, "soon"), (300 * DAY, "later")])
async def test_a_new_conversation_is_read_soon_and_an_old_one_later_d5(database, age, urgency):
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
