"""Rate budget: no minute of all instances uses more, whoever asks, leases, idles or is replaced (D5)."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.models.rate_budget import (
    LARGEST_CALL,
    POOL_SHARDS,
    InstanceBudget,
    build_instance_budget,
    build_shard,
    is_worth_leasing,
    lease_from,
)
from shared.domain.models.token_bucket import TokenBucket

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
BUDGET = 600_000
MINUTE = timedelta(minutes=1)
INSTANCES = 3


@dataclass
class Fleet:
    """Instances that share a budget, and what they used when."""

    now: datetime = START
    shards: list[TokenBucket] = field(
        default_factory=lambda: [build_shard(BUDGET, START)] * POOL_SHARDS
    )
    instances: list[InstanceBudget] = field(
        default_factory=lambda: [build_instance_budget(BUDGET, INSTANCES, START)] * INSTANCES
    )
    used: list[tuple[datetime, float]] = field(default_factory=list)
    used_at_once: list[tuple[datetime, float]] = field(default_factory=list)

    def replace(self, instance: int) -> None:
        self.instances[instance] = build_instance_budget(BUDGET, INSTANCES, self.now)

    def ask(self, instance: int, tokens: float, *, floor: float = 0.0) -> bool:
        """Use tokens of an instance, which leases what it misses; return whether it could."""
        missing = self.instances[instance].count_missing(tokens, self.now, floor=floor)
        if missing:
            self._lease(instance, missing, floor)
        budget = self.instances[instance].take(tokens, self.now, floor=floor)
        if budget is None:
            return False
        self.instances[instance] = budget
        self.used.append((self.now, tokens))
        return True

    def use(self, instance: int, tokens: float) -> None:
        """Use tokens that wait for nothing."""
        self.instances[instance] = self.instances[instance].use(tokens, self.now)
        self.used_at_once.append((self.now, tokens))

    def _lease(self, instance: int, missing: float, floor: float) -> None:
        wanted = max(missing, self.instances[instance].smallest_lease)
        leases: list[float] = []
        for shard in self.shards:
            leases.append(lease_from(shard, wanted - sum(leases), self.now, floor=floor))
        if is_worth_leasing(sum(leases), missing, self.shards, self.now):
            self.shards = [
                shard.take(leased, self.now)
                for shard, leased in zip(self.shards, leases, strict=True)
            ]
            self.instances[instance] = self.instances[instance].add_lease(sum(leases), self.now)

    def find_fullest_minute(self) -> float:
        return max(
            (
                sum(tokens for at, tokens in self.used if end - MINUTE < at <= end)
                for end, _ in self.used
            ),
            default=0.0,
        )


EVENTS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.1, 1.0, 9.0, 30.0, 61.0, 600.0]),
        st.integers(0, INSTANCES - 1),
        st.floats(1, BUDGET * LARGEST_CALL),
        st.sampled_from([0.0, 0.25, 0.5]),
        st.booleans(),
    ),
    max_size=120,
)


@given(EVENTS)
def test_no_minute_of_all_instances_uses_more_than_the_budget_d5(
    events: list[tuple[float, int, float, float, bool]],
) -> None:
    fleet = Fleet()
    for seconds, instance, tokens, floor, is_replaced in events:
        fleet.now += timedelta(seconds=seconds)
        if is_replaced:
            fleet.replace(instance)
        fleet.ask(instance, tokens, floor=floor)

    assert fleet.find_fullest_minute() <= BUDGET * (1 + 1e-9)


@given(st.integers(1, 40), st.integers(1_000, 60_000))
def test_a_flood_at_one_instance_leaves_others_their_own_share_d5(
    seconds: int, tokens: int
) -> None:
    fleet = Fleet(now=START + MINUTE)
    own = fleet.instances[1].own.capacity
    for _ in range(4 * seconds):
        while fleet.ask(0, tokens):
            pass
        fleet.now += timedelta(seconds=0.25)

    assert fleet.ask(1, own)
    assert fleet.find_fullest_minute() <= BUDGET


def test_under_pressure_more_than_half_of_the_budget_is_used_wherever_it_is_d5() -> None:
    fleet = Fleet()
    for _ in range(40 * 60):
        while fleet.ask(0, 2_000):
            pass
        fleet.now += timedelta(seconds=0.25)

    used = sum(tokens for _, tokens in fleet.used)
    assert used / 10 > BUDGET / 2
    assert fleet.find_fullest_minute() <= BUDGET


def test_what_is_less_urgent_leaves_a_share_to_the_rest_d5() -> None:
    fleet = Fleet(now=START + MINUTE)
    while fleet.ask(0, 1_000, floor=0.5):
        pass

    assert fleet.ask(0, BUDGET * 0.05, floor=0.25)
    assert fleet.ask(1, BUDGET * 0.05)


def test_a_call_beyond_what_may_be_free_at_once_is_let_in_and_owed_d5() -> None:
    fleet = Fleet(now=START + MINUTE)

    assert fleet.ask(0, BUDGET / 2)
    assert fleet.instances[0].own.level < 0
    assert not fleet.instances[0].own.count_available(fleet.now + MINUTE, floor=0.0)


def test_behind_a_call_that_is_owed_others_go_on_and_the_next_such_call_waits_d5() -> None:
    fleet = Fleet(now=START + MINUTE)
    assert fleet.ask(0, BUDGET / 2)
    owed = -fleet.instances[0].own.level

    fleet.now += timedelta(seconds=2)
    assert fleet.ask(0, 2_000)
    assert fleet.ask(0, 2_000)
    assert not fleet.ask(0, BUDGET / 2)
    assert -fleet.instances[0].own.level <= owed - 4_000

    fleet.now += 6 * MINUTE
    assert fleet.ask(0, BUDGET / 2)


@given(st.integers(1, 20), st.integers(1, 3))
def test_calls_of_any_size_stay_within_the_budget_in_the_long_run_d5(
    size: int, instances: int
) -> None:
    fleet = Fleet()
    for number in range(20 * 30):
        fleet.ask(number % instances, BUDGET * size / 10)
        fleet.now += timedelta(seconds=2)

    used = sum(tokens for _, tokens in fleet.used)
    assert used <= 20 * BUDGET + instances * BUDGET * size / 10


@given(st.floats(0.01, 0.2), st.sampled_from([0.0, 0.25]))
def test_a_call_that_waits_alone_is_let_in_again_and_again_d5(size: float, floor: float) -> None:
    """What it leases while it waits is not lost: in ten minutes half of the budget that may be used is."""
    fleet = Fleet(now=START + MINUTE)
    for _ in range(10 * 60):
        fleet.ask(0, BUDGET * size, floor=floor)
        fleet.now += timedelta(seconds=1)

    waits = [later - earlier for (earlier, _), (later, _) in pairwise(fleet.used)]
    assert max(waits) <= timedelta(seconds=30), waits


CALLS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.25, 1.0, 9.0, 61.0]),
        st.integers(0, INSTANCES - 1),
        st.floats(1, BUDGET * LARGEST_CALL),
        st.booleans(),
    ),
    max_size=120,
)


@given(CALLS)
def test_what_waits_for_nothing_leaves_the_rest_within_the_budget_d5(
    calls: list[tuple[float, int, float, bool]],
) -> None:
    fleet = Fleet()
    for seconds, instance, tokens, is_urgent in calls:
        fleet.now += timedelta(seconds=seconds)
        if is_urgent:
            fleet.use(instance, tokens)
            if tokens > BUDGET * LARGEST_CALL / 2:
                fleet.replace(instance)
        else:
            fleet.ask(instance, tokens)

    assert fleet.find_fullest_minute() <= BUDGET * (1 + 1e-9)


def _check_repayment(fleet: Fleet, instance: int, tokens: float) -> None:
    before = fleet.instances[instance]
    owed = max(0.0, -before.own.refill(fleet.now).level)
    here = before.leased if fleet.now < before.leased_until else 0.0
    if fleet.ask(instance, tokens):
        owed_now = max(0.0, -fleet.instances[instance].own.level)
        assert owed_now <= max(0.0, owed - max(0.0, tokens - here)) + 1e-3


@given(CALLS)
def test_what_waits_for_nothing_is_made_up_for_by_as_much_as_other_calls_lease_d5(
    calls: list[tuple[float, int, float, bool]],
) -> None:
    fleet = Fleet()
    for seconds, instance, tokens, is_urgent in calls:
        fleet.now += timedelta(seconds=seconds)
        if is_urgent:
            fleet.use(instance, tokens)
        else:
            _check_repayment(fleet, instance, tokens)

    used = sum(tokens for _, tokens in [*fleet.used, *fleet.used_at_once])
    owed = sum(max(0.0, -each.own.level) for each in fleet.instances)
    minutes = (fleet.now - START) / MINUTE
    assert used - owed <= BUDGET * (minutes + 1) * (1 + 1e-9)


def test_what_is_leased_is_lost_when_its_time_is_over_d5() -> None:
    budget = build_instance_budget(BUDGET, INSTANCES, START).add_lease(500.0, START)

    assert budget.take(500.0, START + timedelta(seconds=9), floor=1.0) is not None
    assert budget.take(500.0, START + timedelta(seconds=10), floor=1.0) is None


def test_a_shard_is_written_once_a_second_after_a_burst_however_many_ask_f5() -> None:
    """A document bears no more; so what shares the budget is no bound of how many instances there are."""
    shard = build_shard(BUDGET, START)
    wanted = build_instance_budget(BUDGET, INSTANCES, START).smallest_lease
    writes = 0
    for tick in range(6_000):
        now = START + timedelta(seconds=tick / 100)
        if leased := lease_from(shard, wanted, now, floor=0.0):
            shard = shard.take(leased, now)
            writes += 1

    assert writes <= 24 + 60
