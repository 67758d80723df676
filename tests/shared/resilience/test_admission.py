"""Admission: instances over one pool, with a flood, replaced documents and a store that is away (D5)."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest

from shared import telemetry
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.metered_documents import MeteredDocuments
from shared.data.account.token_pool import TokenPool
from shared.domain.errors import ModelBusy, TooMany, Unavailable
from shared.domain.ids import UserId
from shared.domain.models.rate_budget import (
    POOL_SHARDS,
    build_instance_budget,
    build_shard,
    is_worth_leasing,
    lease_from,
)
from shared.domain.models.token_bucket import TokenBucket
from shared.resilience.admission import LONGEST_WAIT, PATIENCE, Admission, LeaseTokens
from tests.fakes import FixedClock, InstantSleepClock
from tests.fixtures.storage import INDEXES, MemoryDatabase

ANN, BOB = UserId("ann"), UserId("bob")
BUDGET = 600_000
INSTANCES = 2
START = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
def clock() -> InstantSleepClock:
    return InstantSleepClock(START)


@pytest.fixture
def documents() -> MeteredDocuments:
    return MeteredDocuments(SqliteDocuments(MemoryDatabase(), INDEXES))


@pytest.fixture
def lease(documents: MeteredDocuments) -> LeaseTokens:
    return TokenPool(documents, BUDGET).lease


def start_instance(lease: LeaseTokens, clock: FixedClock, *, first_shard: int = 0) -> Admission:
    budget = build_instance_budget(BUDGET, INSTANCES, clock.now())
    return Admission(budget, lease, clock, first_shard=first_shard)


async def lease_nothing(*_: object, **__: object) -> float:
    raise Unavailable("the store is down")


@dataclass
class LocalPool:
    """A pool without documents, so that tests decide what happens when."""

    shards: list[TokenBucket] = field(
        default_factory=lambda: [build_shard(BUDGET, START)] * POOL_SHARDS
    )

    async def lease(
        self, wanted: float, /, *, least: float, first: int, floor: float, now: datetime
    ) -> float:
        leases = dict.fromkeys((n % POOL_SHARDS for n in range(first, first + POOL_SHARDS)), 0.0)
        for number in leases:
            missing = wanted - sum(leases.values())
            leases[number] = lease_from(self.shards[number], missing, now, floor=floor)
        leased = sum(leases.values())
        if not is_worth_leasing(leased, least, self.shards, now):
            return 0.0
        for number, tokens in leases.items():
            self.shards[number] = self.shards[number].take(tokens, now)
        return leased


@asynccontextmanager
async def running(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Let work go on, until the block is left."""
    tasks = [asyncio.create_task(each) for each in work]
    yield
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def pass_time(clock: FixedClock, *, seconds: float) -> None:
    for _ in range(round(seconds / 0.25)):
        clock.advance(seconds=0.25)
        for _ in range(4):
            await asyncio.sleep(0)


async def use_up(admission: Admission, clock: InstantSleepClock, uid: UserId = ANN) -> None:
    """Ask until a call has to wait."""
    asked_at = clock.now()
    while clock.now() == asked_at:
        await admission.admit(uid, "now", 5_000)


async def test_without_pressure_no_document_is_read_for_a_call_d5(lease, clock):
    admission = start_instance(lease, clock)
    clock.advance(seconds=60)

    with telemetry.log_request("test"):
        for _ in range(5):
            await admission.admit(ANN, "now", 4_000)
            clock.advance(seconds=10)
        fields = telemetry.get_fields()

    assert fields.get("reads", 0) == 0
    assert "model_wait_ms" not in fields


async def test_an_instance_that_needs_more_leases_for_several_calls_d5(lease, clock):
    admission = start_instance(lease, clock)

    with telemetry.log_request("test"):
        for _ in range(6):
            await admission.admit(ANN, "now", 500)
        reads = telemetry.get_fields()["reads"]

    assert reads == 1


async def test_in_no_minute_of_a_flood_is_more_used_than_the_budget_d5() -> None:
    clock = FixedClock(START)
    pool = LocalPool()
    instances = [start_instance(pool.lease, clock, first_shard=n) for n in range(INSTANCES)]
    used: list[tuple[datetime, int]] = []

    async def flood(admission: Admission, uid: str) -> None:
        while True:
            with suppress(ModelBusy):
                await admission.admit(UserId(uid), "now", 7_000)
                used.append((clock.now(), 7_000))

    async with running(*(flood(each, uid) for each in instances for uid in "abcdef")):
        await pass_time(clock, seconds=240)

    assert _find_fullest_minute(used) <= BUDGET
    assert sum(tokens for _, tokens in used) > 4 * BUDGET * 0.5


def _find_fullest_minute(used: Sequence[tuple[datetime, int]]) -> int:
    minute = timedelta(minutes=1)
    return max(sum(n for at, n in used if end - minute < at <= end) for end, _ in used)


async def test_a_user_with_one_question_is_served_while_another_floods_d5() -> None:
    clock = FixedClock(START)
    admission = start_instance(LocalPool().lease, clock)
    served: list[tuple[UserId, datetime]] = []

    async def ask(uid: UserId) -> None:
        with suppress(ModelBusy):
            await admission.admit(uid, "now", 7_000)
            served.append((uid, clock.now()))

    async def flood() -> None:
        while True:
            await ask(ANN)

    async with running(*(flood() for _ in range(40))):
        await pass_time(clock, seconds=60)
        asked_at = clock.now()
        async with running(ask(BOB)):
            await pass_time(clock, seconds=10)

    (answered_at,) = (at for uid, at in served if uid == BOB)
    assert answered_at - asked_at <= timedelta(seconds=3)
    assert sum(at >= asked_at for uid, at in served) > 1


async def test_users_with_small_questions_are_served_while_others_ask_for_too_much_again_and_again_d5() -> (
    None
):
    clock = FixedClock(START)
    admission = start_instance(LocalPool().lease, clock)
    served: list[UserId] = []

    async def ask(uid: str, tokens: int) -> None:
        while True:
            with suppress(ModelBusy):
                await admission.admit(UserId(uid), "now", tokens)
                served.append(UserId(uid))
            await clock.sleep(1)

    greedy = [ask(f"greedy{n}", 150_000) for n in range(3)]
    async with running(*greedy, *(ask(f"user{n}", 4_000) for n in range(4))):
        await pass_time(clock, seconds=180)

    assert sum(uid.startswith("user") for uid in served) > 150


async def test_whether_somebody_is_in_a_crisis_is_judged_at_once_while_everybody_waits_d5(
    clock: InstantSleepClock,
) -> None:
    """Also behind a call that the instance owes, with a pool that is away; others wait longer for it."""
    clock.advance(seconds=60)
    admission = start_instance(lease_nothing, clock)
    clock.advance(seconds=60)
    admission_of_others = [ask_for_much(admission, UserId(f"user{n}")) for n in range(9)]
    async with running(*admission_of_others):
        await asyncio.sleep(0)
        asked_at = clock.now()
        for _ in range(20):
            await admission.admit(BOB, "crisis", 9_000)
        judged_at = clock.now()

    assert judged_at == asked_at
    with pytest.raises(ModelBusy):
        await admission.admit(ANN, "now", 1)


async def ask_for_much(admission: Admission, uid: UserId) -> None:
    with suppress(ModelBusy):
        await admission.admit(uid, "now", BUDGET)


async def test_who_is_in_a_crisis_has_had_those_tokens_when_they_ask_again_d5() -> None:
    clock, pool = FixedClock(START), LocalPool()
    admission = start_instance(pool.lease, clock)
    served: list[UserId] = []

    async def ask(uid: UserId) -> None:
        await admission.admit(uid, "now", 7_000)
        served.append(uid)

    await admission.admit(BOB, "crisis", 130_000)
    await pool.lease(BUDGET, least=0.0, first=0, floor=0.0, now=clock.now())  # by others
    async with running(ask(BOB), ask(ANN)):
        await pass_time(clock, seconds=9)

    assert served == [ANN, BOB]


async def test_a_question_goes_before_what_waits_for_less_d5(lease, clock):
    admission = start_instance(lease, clock)
    await use_up(admission, clock)
    order: list[str] = []

    async def ask(urgency, name: str) -> None:
        with suppress(ModelBusy):
            await admission.admit(UserId(name), urgency, 2_000)
            order.append(name)

    await asyncio.gather(ask("later", "import"), ask("soon", "recording"), ask("now", "question"))

    assert order[0] == "question"


async def test_what_waits_too_long_is_refused_with_a_time_to_come_back_d5(clock):
    admission = start_instance(lease_nothing, clock)
    asked_at = clock.now()

    with pytest.raises(ModelBusy) as refusal:
        await admission.admit(ANN, "later", 80_000)

    assert refusal.value.retry_after_s == 30
    assert clock.now() - asked_at >= LONGEST_WAIT["later"]


async def test_who_waits_for_long_is_let_in_with_no_other_question_and_others_are_d5(lease, clock):
    admission = start_instance(lease, clock)
    await use_up(admission, clock)
    waiting = asyncio.create_task(admission.admit(ANN, "later", 90_000))
    asked_at = clock.now()
    admission.check_room(ANN)
    while clock.now() - asked_at <= PATIENCE:
        await clock.sleep(1)

    with pytest.raises(TooMany) as refusal:
        admission.check_room(ANN)

    assert refusal.value.retry_after_s == 30
    admission.check_room(BOB)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


async def test_tokens_count_as_short_for_a_minute_after_a_call_had_to_wait_d5(lease, clock):
    admission = start_instance(lease, clock)
    await admission.admit(ANN, "now", 500)
    short_before = admission.is_short()
    await use_up(admission, clock)
    short_after = admission.is_short()
    clock.advance(seconds=61)

    assert (short_before, short_after, admission.is_short()) == (False, True, False)


async def test_an_instance_whose_clock_was_ahead_leases_once_the_store_has_set_it_d5(lease, clock):
    clock.advance(hours=1)
    admission = start_instance(lease, clock)
    clock.advance(hours=-1)

    await admission.admit(ANN, "now", 500)

    assert clock.now() - START < timedelta(seconds=1)


async def test_a_pool_that_is_away_leaves_an_instance_its_own_share_d5(clock):
    admission = start_instance(lease_nothing, clock)
    clock.advance(seconds=60)

    await admission.admit(ANN, "now", 5_000)
    with pytest.raises(ModelBusy):
        await admission.admit(ANN, "now", 80_000)


async def test_a_pool_that_does_not_answer_holds_up_nobody_for_longer_than_a_call_waits_d5(clock):
    async def never_lease(*_: object, **__: object) -> float:
        await anyio.sleep_forever()
        raise AssertionError

    budget = build_instance_budget(BUDGET, INSTANCES, clock.now())
    admission = Admission(budget, never_lease, clock, first_shard=0, lease_timeout_s=0.0)
    clock.advance(seconds=60)

    await admission.admit(ANN, "now", 5_000)
    with pytest.raises(ModelBusy):
        await admission.admit(ANN, "now", 80_000)


async def test_two_leases_of_one_shard_at_once_never_take_the_same_tokens_d5(documents, clock):
    pool = TokenPool(documents, BUDGET)

    leased = await asyncio.gather(
        *(pool.lease(BUDGET, least=0.0, first=0, floor=0.0, now=clock.now()) for _ in range(6))
    )

    assert sum(leased) <= BUDGET * 0.75 * 0.25 * (1 + 1e-9)
