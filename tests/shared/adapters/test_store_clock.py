"""Clock of the store: machines whose clocks differ agree about the time, and about who holds a lease."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.store_clock import StoreClock
from shared.domain.chats.run import LEASE_TTL
from shared.domain.conversations.claim import LEASE_EXTENSION_INTERVAL, Claim, acquire, extend
from shared.domain.errors import Unavailable
from tests.fakes import FixedClock

LONGEST_TRIP = timedelta(seconds=1)
skews = st.timedeltas(timedelta(minutes=-5), timedelta(minutes=5))
legs = st.timedeltas(timedelta(), LONGEST_TRIP / 2)
trips = st.tuples(legs, legs)


@dataclass
class Store:
    """The store, whose clock is right, and machines around it whose clocks are wrong."""

    clock: FixedClock = field(default_factory=FixedClock)
    machines: list[FixedClock] = field(default_factory=list)

    def add_machine(self, skew: timedelta) -> StoreClock:
        machine = FixedClock(self.clock.now() + skew)
        self.machines.append(machine)
        return StoreClock(machine)

    def wait(self, time: timedelta) -> None:
        for clock in (self.clock, *self.machines):
            clock.advance(seconds=time.total_seconds())

    def answer(self, asking: StoreClock, trip: tuple[timedelta, timedelta]) -> None:
        """Carry a question to the store and its answer back."""
        asked_at = asking.read_machine()
        self.wait(trip[0])
        read_at = self.clock.now()
        self.wait(trip[1])
        asking.observe(read_at, asked_at=asked_at)


@given(skews, st.lists(trips, min_size=1))
def test_a_wrong_clock_is_right_by_as_much_as_its_last_answer_took(
    skew: timedelta, answers: Sequence[tuple[timedelta, timedelta]]
):
    store = Store()
    clock = store.add_machine(skew)
    for trip in answers:
        store.answer(clock, trip)

        assert abs(clock.now() - store.clock.now()) <= sum(trip, timedelta())


@given(st.lists(trips))
def test_a_right_clock_is_left_alone(answers: Sequence[tuple[timedelta, timedelta]]):
    store = Store()
    clock = store.add_machine(timedelta())
    for trip in answers:
        store.answer(clock, trip)

    assert clock.now() == clock.read_machine()


@given(skews, skews, st.lists(st.tuples(trips, legs, trips), min_size=1, max_size=20))
def test_a_lease_that_is_extended_never_looks_lapsed_whatever_the_clocks_say(
    holder_skew: timedelta,
    claimant_skew: timedelta,
    beats: Sequence[tuple[tuple[timedelta, timedelta], timedelta, tuple[timedelta, timedelta]]],
):
    """Each extension reads, and is stored by a later commit; right before that somebody else tries to claim."""
    store = Store()
    holder, claimant = store.add_machine(holder_skew), store.add_machine(claimant_skew)
    store.answer(holder, beats[0][0])
    claim = acquire_for("holder", None, holder)
    for read, commit, claimed_read in beats:
        store.wait(LEASE_EXTENSION_INTERVAL)
        store.answer(holder, read)
        extended = extend(claim, "holder", holder.now())
        store.wait(commit)
        store.answer(claimant, claimed_read)
        with pytest.raises(Unavailable):
            acquire_for("claimant", claim, claimant)
        claim = extended


def acquire_for(attempt: str, previous: Claim | None, clock: StoreClock) -> Claim:
    return acquire(previous, attempt=attempt, content_hash="c", message_hash="m", now=clock.now())


@given(skews, skews, trips, trips)
def test_a_run_that_extends_its_lease_in_time_has_not_lapsed_elsewhere(
    holder_skew: timedelta,
    reader_skew: timedelta,
    first: tuple[timedelta, timedelta],
    second: tuple[timedelta, timedelta],
):
    """A recorder extends its lease after six seconds: half of it, and what is left until it looks again."""
    store = Store()
    holder, reader = store.add_machine(holder_skew), store.add_machine(reader_skew)
    store.answer(holder, first)
    lease_until = holder.now() + LEASE_TTL
    store.wait(LEASE_TTL / 2 + timedelta(seconds=1))
    store.answer(reader, second)

    assert lease_until > reader.now()
