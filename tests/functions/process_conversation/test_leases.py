"""Leases of processing: a living attempt keeps its own, and a dead one is soon replaced."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.process_conversation.processing.mark_failed import mark_failed
from shared.data.conversations.announcements import claim_path
from shared.data.store.codec import load
from shared.domain.conversations.claim import (
    LEASE_EXTENSION_INTERVAL,
    LEASE_TTL,
    Claim,
    acquire,
    extend,
    finish,
    release,
)
from shared.domain.conversations.conversation import Conversation
from shared.domain.errors import Unavailable
from shared.domain.failure import Failure
from tests.fixtures.processing import (
    ALICE,
    START,
    TALK,
    ProcessingFixture,
    build_processing_fixture,
    build_test_conversation,
)
from tests.functions.process_conversation.test_interruptions import EchoModel

TTL_S = LEASE_TTL.total_seconds()
OUTAGE = Failure(reason="other", detail="down")


async def test_an_attempt_keeps_its_lease_for_as_long_as_it_works(database):
    model = PatientModel()
    world = build_processing_fixture(database, model, extension_interval=timedelta(milliseconds=50))
    model.world = world
    await world.write(build_test_conversation())
    (message,) = await world.run_trigger()

    await world.deliver(message)

    assert model.seen_ends[1] - model.seen_ends[0] == timedelta(seconds=TTL_S - 1)
    assert (await world.load_conversation()).status == "completed"


class PatientModel(EchoModel):
    """A model whose first answer waits until the lease of its attempt was extended."""

    world: ProcessingFixture

    def __init__(self) -> None:
        self.seen_ends: list[Any] = []

    async def complete_structured(self, role: Any, prompt: Any, schema: Any) -> Any:
        if not self.seen_ends:
            self.seen_ends.append((await load_claim(self.world)).lease_until)
            self.world.clock.advance(seconds=TTL_S - 1)
            while (end := (await load_claim(self.world)).lease_until) == self.seen_ends[0]:
                await anyio.lowlevel.checkpoint()
            self.seen_ends.append(end)
        return await super().complete_structured(role, prompt, schema)


async def load_claim(world: ProcessingFixture) -> Claim:
    document = await world.documents.get(claim_path(ALICE, TALK))
    assert document is not None
    return load(Claim, document)


async def test_who_comes_too_early_is_told_when_the_lease_ends(database):
    world = build_processing_fixture(database, EchoModel())
    await world.write(build_test_conversation())
    (message,) = await world.run_trigger()
    await world.deps.claims.acquire(ALICE, TALK, message_hash=message["content_hash"])
    world.clock.advance(seconds=3)

    with pytest.raises(Unavailable) as refused:
        await world.deliver(message)

    assert refused.value.retry_after_s == TTL_S - 3


async def test_a_beat_after_the_end_revives_no_lease(database):
    world = build_processing_fixture(database, EchoModel())
    await world.write(build_test_conversation())
    (message,) = await world.run_trigger()
    claimed = await world.deps.claims.acquire(ALICE, TALK, message_hash=message["content_hash"])
    assert isinstance(claimed, Conversation)
    assert claimed.held_by is not None
    await mark_failed(world.deps, ALICE, claimed, Failure(reason="other", detail="refused"))
    ended = await load_claim(world)

    await world.deps.claims.extend(ALICE, TALK, claimed.held_by.attempt)

    assert await load_claim(world) == ended


@given(pauses_s=st.lists(st.floats(0, TTL_S - 0.01), max_size=8), silence_s=st.floats(0, 3 * TTL_S))
def test_a_lease_lasts_exactly_as_long_as_beats_come_in_time(
    pauses_s: Sequence[float], silence_s: float
) -> None:
    now, claim = START, start_claim("first")
    for pause_s in pauses_s:
        now += timedelta(seconds=pause_s)
        claim = extend(claim, "first", now)

    successor = try_to_acquire(claim, at_s=(now - START).total_seconds() + silence_s)

    assert (successor is not None) == (timedelta(seconds=silence_s) >= LEASE_TTL)


@given(pause_s=st.floats(0, 3 * TTL_S))
def test_no_beat_extends_what_ended_and_nothing_ends_what_was_taken_over(pause_s: float) -> None:
    claim = start_claim("first")
    now = START + timedelta(seconds=pause_s)
    successor = acquire(claim, attempt="second", content_hash="new", message_hash="new", now=START)

    assert extend(finish(claim, "first", START), "first", now).writing == ()
    assert extend(finish(claim, "first", START), "first", now).lease_until == START
    assert extend(release(claim, claim, START, OUTAGE), "first", now) == release(
        claim, claim, START, OUTAGE
    )
    assert extend(successor, "first", now).lease_until == successor.lease_until
    assert release(successor, claim, START, OUTAGE).lease_until == successor.lease_until


def test_two_beats_may_be_missed():
    assert LEASE_TTL >= 3 * LEASE_EXTENSION_INTERVAL


def start_claim(attempt: str) -> Claim:
    return acquire(None, attempt=attempt, content_hash="text", message_hash="text", now=START)


def try_to_acquire(claim: Claim, *, at_s: float) -> Claim | None:
    now = START + timedelta(seconds=at_s)
    try:
        return acquire(claim, attempt="next", content_hash="text", message_hash="text", now=now)
    except Unavailable:
        return None
