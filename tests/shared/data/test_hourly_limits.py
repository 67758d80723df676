"""Hourly limits: slots count down, expire and are shared by no two consumers (T14)."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.data.hourly_limits import HourlyLimits
from shared.domain.documents import Create, Update
from shared.domain.errors import AlreadyExists, PreconditionFailed, Unavailable
from shared.domain.ids import UserId
from shared.ports import Documents

ALICE = UserId("alice")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ONE_O_CLOCK = datetime(2026, 3, 2, 13, tzinfo=UTC)


async def test_remaining_slots_count_down_and_reset_each_hour(documents: Documents):
    limits = HourlyLimits(documents)

    remaining = [
        await limits.consume(ALICE, "app", hour=NOON, limit=3, consumer=f"n{n}") for n in range(4)
    ]

    assert remaining == [2, 1, 0, None]
    assert await limits.consume(ALICE, "app", hour=ONE_O_CLOCK, limit=3, consumer="id") == 2


async def test_a_slot_expires_when_its_consumer_can_no_longer_retry(documents: Documents):

    await HourlyLimits(documents).consume(ALICE, "app", hour=NOON, limit=1, consumer="id")

    slot = await documents.get("users/alice/limits/app-2026-03-02-12-0")
    assert slot is not None
    assert slot.fields == {"taker": "id", "expires_at": ONE_O_CLOCK + timedelta(hours=24)}


async def test_a_repeated_consumer_takes_no_second_slot_t15(documents: Documents):
    limits = HourlyLimits(documents)

    remaining = [
        await limits.consume(ALICE, "app", hour=NOON, limit=2, consumer=n) for n in "aabcaab"
    ]

    assert remaining == [1, 1, 0, None, 0, 0, 0]


async def test_a_slot_and_the_write_it_is_for_are_stored_atomically(documents: Documents):
    limits = HourlyLimits(documents)

    async def store(slot: Create) -> None:
        await documents.write(slot, Update("users/nobody", {"n": 1}))

    with pytest.raises(PreconditionFailed):
        await limits.consume(ALICE, "app", hour=NOON, limit=1, consumer="a", store=store)

    assert await limits.consume(ALICE, "app", hour=NOON, limit=1, consumer="b") == 0


async def test_a_slot_that_can_never_be_stored_raises_unavailable(documents: Documents):

    async def store(slot: Create) -> None:
        raise AlreadyExists(slot.path)

    with pytest.raises(Unavailable):
        await HourlyLimits(documents).consume(
            ALICE, "app", hour=NOON, limit=2, consumer="a", store=store
        )
