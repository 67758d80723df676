"""Hourly limits: what is left counts down, expires and is shared by no two consumers (T14)."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.data.store.hourly_limits import HourlyLimits, LimitWrite
from shared.domain.errors import AlreadyExists, PreconditionFailed
from shared.domain.ids import UserId
from shared.domain.store.documents import Update
from shared.ports import Documents

ALICE = UserId("alice")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ONE_O_CLOCK = datetime(2026, 3, 2, 13, tzinfo=UTC)


async def test_what_is_left_counts_down_and_resets_each_hour(documents: Documents):
    limits = HourlyLimits(documents)

    remaining = [
        await limits.consume(ALICE, "app", hour=NOON, limit=3, consumer=f"n{n}") for n in range(4)
    ]

    assert remaining == [2, 1, 0, None]
    assert await limits.consume(ALICE, "app", hour=ONE_O_CLOCK, limit=3, consumer="id") == 2


async def test_a_limit_expires_when_its_consumers_can_no_longer_retry(documents: Documents):

    await HourlyLimits(documents).consume(ALICE, "app", hour=NOON, limit=1, consumer="id")

    stored = await documents.get("users/alice/limits/hour-app-2026-03-02-12")
    assert stored is not None
    assert stored.fields == {"consumers": ["id"], "expires_at": ONE_O_CLOCK + timedelta(hours=24)}


async def test_a_repeated_consumer_takes_nothing_twice_t15(documents: Documents):
    limits = HourlyLimits(documents)

    remaining = [
        await limits.consume(ALICE, "app", hour=NOON, limit=2, consumer=n) for n in "aabcaab"
    ]

    assert remaining == [1, 1, 0, None, 0, 0, 0]


async def test_a_limit_and_the_write_it_is_for_are_stored_atomically(documents: Documents):
    limits = HourlyLimits(documents)

    async def store(write: LimitWrite) -> None:
        await documents.write(write, Update("users/nobody", {"n": 1}))

    with pytest.raises(PreconditionFailed):
        await limits.consume(ALICE, "app", hour=NOON, limit=1, consumer="a", store=store)

    assert await limits.consume(ALICE, "app", hour=NOON, limit=1, consumer="b") == 0


async def test_a_write_that_can_never_be_made_raises_what_it_raises(documents: Documents):

    async def store(write: LimitWrite) -> None:
        raise AlreadyExists(write.path)

    with pytest.raises(AlreadyExists):
        await HourlyLimits(documents).consume(
            ALICE, "app", hour=NOON, limit=2, consumer="a", store=store
        )


async def test_who_was_slower_takes_what_is_left_or_nothing(documents: Documents):
    limits = HourlyLimits(documents)

    async def store_last(write: LimitWrite) -> None:
        await limits.consume(ALICE, "app", hour=NOON, limit=2, consumer=f"n{len(faster)}")
        faster.append(write)
        await documents.write(write)

    faster: list[LimitWrite] = []
    left = await limits.consume(ALICE, "app", hour=NOON, limit=2, consumer="slow", store=store_last)

    assert (left, len(faster)) == (None, 2)


async def test_a_limit_that_was_lowered_admits_nobody_more(documents: Documents):
    limits = HourlyLimits(documents)
    for consumer in "ab":
        await limits.consume(ALICE, "app", hour=NOON, limit=3, consumer=consumer)

    assert await limits.consume(ALICE, "app", hour=NOON, limit=1, consumer="c") is None
    assert await limits.consume(ALICE, "app", hour=NOON, limit=1, consumer="a") == 0
