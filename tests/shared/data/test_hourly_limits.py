"""T14: slots are taken one by one, and say when they may go."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_documents import SqliteDocuments
from shared.data.hourly_limits import HourlyLimits
from shared.domain.documents import Create, Update
from shared.domain.errors import AlreadyExists, PreconditionFailed, Unavailable
from shared.domain.ids import UserId

ALICE = UserId("alice")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ONE = datetime(2026, 3, 2, 13, tzinfo=UTC)


async def test_what_is_left_counts_down_and_the_next_hour_starts_anew(tmp_path: Path):
    documents = SqliteDocuments(SqliteDatabase(tmp_path / "keepsake.db"), FirestoreIndexes())
    limits = HourlyLimits(documents)

    taken = [await limits.take(ALICE, "app", hour=NOON, limit=3, taker=f"n{n}") for n in range(4)]

    assert taken == [2, 1, 0, None]
    assert await limits.take(ALICE, "app", hour=ONE, limit=3, taker="id") == 2


async def test_a_slot_outlives_its_hour_by_as_long_as_its_taker_may_come_again(tmp_path: Path):
    documents = SqliteDocuments(SqliteDatabase(tmp_path / "keepsake.db"), FirestoreIndexes())

    await HourlyLimits(documents).take(ALICE, "app", hour=NOON, limit=1, taker="id")

    slot = await documents.get("users/alice/limits/app-2026-03-02-12-0")
    assert slot is not None
    assert slot.fields == {"taker": "id", "expires_at": ONE + timedelta(hours=24)}


async def test_t15_who_comes_again_takes_no_second_slot(tmp_path: Path):
    documents = SqliteDocuments(SqliteDatabase(tmp_path / "keepsake.db"), FirestoreIndexes())
    limits = HourlyLimits(documents)

    taken = [await limits.take(ALICE, "app", hour=NOON, limit=2, taker=n) for n in "aabcaab"]

    assert taken == [1, 1, 0, None, 0, 0, 0]


async def test_a_slot_is_written_with_what_it_is_for_or_not_at_all(tmp_path: Path):
    documents = SqliteDocuments(SqliteDatabase(tmp_path / "keepsake.db"), FirestoreIndexes())
    limits = HourlyLimits(documents)

    async def store(slot: Create) -> None:
        await documents.write(slot, Update("users/nobody", {"n": 1}))

    with pytest.raises(PreconditionFailed):
        await limits.take(ALICE, "app", hour=NOON, limit=1, taker="a", store=store)

    assert await limits.take(ALICE, "app", hour=NOON, limit=1, taker="b") == 0


async def test_a_slot_that_never_can_be_taken_is_given_up(tmp_path: Path):
    documents = SqliteDocuments(SqliteDatabase(tmp_path / "keepsake.db"), FirestoreIndexes())

    async def store(slot: Create) -> None:
        raise AlreadyExists(slot.path)

    with pytest.raises(Unavailable):
        await HourlyLimits(documents).take(ALICE, "app", hour=NOON, limit=2, taker="a", store=store)
