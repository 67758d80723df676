"""Quotas: what is taken never exceeds its limit, over any number of processes (S5)."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.data.account.model_usage import list_days, record_models
from shared.data.account.quotas import Quotas
from shared.domain.errors import QuotaExceeded
from shared.domain.ids import UserId
from shared.domain.models.model_usage import RoleUsage
from shared.ports import Documents
from tests.fixtures.storage import INDEXES, MemoryDatabase

ADA = UserId("ada")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


async def try_take(quotas: Quotas, amount: int = 1) -> int:
    """Return what was taken."""
    try:
        await quotas.take(ADA, "outbound_calls", amount, now=NOON)
    except QuotaExceeded:
        return 0
    return amount


async def test_of_a_crowd_over_two_instances_exactly_the_limit_is_taken_s5(
    any_documents: Documents,
) -> None:
    instances = [Quotas(any_documents, {"outbound_calls": 25}) for _ in range(2)]

    taken = await asyncio.gather(*(try_take(instances[n % 2]) for n in range(60)))

    assert sum(taken) == 25
    assert (await instances[0].load_usage(ADA, NOON))["outbound_calls"] == 25


@given(
    limit=st.integers(1, 2_000),
    takes=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 50)), max_size=60),
)
def test_no_order_of_takes_exceeds_the_limit_s5(limit: int, takes: list[tuple[int, int]]) -> None:
    async def play() -> int:
        database = MemoryDatabase()
        documents = SqliteDocuments(database, INDEXES)
        instances = [Quotas(documents, {"outbound_calls": limit}) for _ in range(3)]
        taken = [await try_take(instances[n], amount) for n, amount in takes]
        used = (await instances[0].load_usage(ADA, NOON))["outbound_calls"]
        database.close()
        assert sum(taken) <= used <= limit
        return sum(taken)

    asyncio.run(play())


async def test_a_burst_needs_fewer_writes_than_calls_s5(documents: Documents) -> None:
    class CountedDocuments:
        writes = 0

        def __getattr__(self, name: str) -> object:
            return getattr(documents, name)

        async def write(self, *writes: object) -> None:
            self.writes += 1
            await documents.write(*writes)  # type: ignore[arg-type]

    counted = CountedDocuments()
    quotas = Quotas(counted, {"outbound_calls": 50_000})  # type: ignore[arg-type]
    for _ in range(500):
        await quotas.take(ADA, "outbound_calls", now=NOON)

    assert counted.writes <= 9


async def test_a_call_now_and_then_counts_as_one_s5(documents: Documents) -> None:
    quotas = Quotas(documents, {"outbound_calls": 50_000})
    for minute in range(5):
        await quotas.take(ADA, "outbound_calls", now=NOON + timedelta(minutes=minute))

    assert (await quotas.load_usage(ADA, NOON))["outbound_calls"] == 5


async def test_without_a_limit_all_is_taken_and_counted_s5(documents: Documents) -> None:
    quotas = Quotas(documents, {})
    await quotas.take(ADA, "ingested_bytes", 10**12, now=NOON)

    assert (await quotas.load_usage(ADA, NOON))["ingested_bytes"] == 10**12


async def test_a_days_use_expires_and_what_is_stored_does_not_p34(documents: Documents) -> None:
    quotas = Quotas(documents, {})
    await quotas.take(ADA, "turns", now=NOON)
    await quotas.take(ADA, "stored_bytes", 5, now=NOON)

    today = await documents.get("users/ada/usage/2026-03-02")
    stored = await documents.get("users/ada/usage/stored")
    assert today is not None
    assert stored is not None
    assert today.fields["expires_at"] == NOON + timedelta(days=35)
    assert stored.fields == {"stored_bytes": 5}


@pytest.mark.parametrize("count", [1, 20])
async def test_concurrent_records_are_all_counted_s5(documents: Documents, count: int) -> None:
    quotas = Quotas(documents, {"tokens": 1})
    await asyncio.gather(*(quotas.record(ADA, "tokens", 3, now=NOON) for _ in range(count)))

    assert (await quotas.load_usage(ADA, NOON))["tokens"] == 3 * count


async def test_what_models_used_is_counted_by_day_and_role_p25(any_documents: Documents) -> None:
    quotas, other = Quotas(any_documents, {}), Quotas(any_documents, {})
    answer = RoleUsage(calls=2, input_tokens=900, cached_tokens=500, output_tokens=30)
    title = RoleUsage(calls=1, input_tokens=80, output_tokens=5)
    tomorrow = NOON + timedelta(days=1)

    await quotas.take(ADA, "turns", now=NOON)
    for _ in range(3):
        await record_models(quotas, ADA, {"agent": answer}, tokens=930, now=NOON)
    await asyncio.gather(*(record_models(other, ADA, {"fast": title}, now=NOON) for _ in range(4)))
    await record_models(other, ADA, {"fast": title}, now=tomorrow)

    days = await list_days(quotas, ADA, tomorrow, days=3)
    assert [(usage.day.day, usage.turns, dict(usage.models)) for usage in days] == [
        (3, 0, {"fast": title}),
        (
            2,
            1,
            {
                "fast": RoleUsage(calls=4, input_tokens=320, output_tokens=20),
                "agent": RoleUsage(
                    calls=6, input_tokens=2_700, cached_tokens=1_500, output_tokens=90
                ),
            },
        ),
    ]
    assert (await quotas.load_usage(ADA, NOON))["tokens"] == 3 * 930
