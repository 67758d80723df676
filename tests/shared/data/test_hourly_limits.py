"""T14: slots are taken one by one, and say when they may go."""

from datetime import UTC, datetime
from pathlib import Path

from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_documents import SqliteDocuments
from shared.data.hourly_limits import HourlyLimits
from shared.domain.ids import UserId

ALICE = UserId("alice")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ONE = datetime(2026, 3, 2, 13, tzinfo=UTC)


async def test_what_is_left_counts_down_and_the_next_hour_starts_anew(tmp_path: Path):
    documents = SqliteDocuments(SqliteDatabase(tmp_path / "keepsake.db"), FirestoreIndexes())
    limits = HourlyLimits(documents)

    taken = [await limits.take(ALICE, "app", hour=NOON, limit=3, taker="id") for _ in range(4)]

    assert taken == [2, 1, 0, None]
    assert await limits.take(ALICE, "app", hour=ONE, limit=3, taker="id") == 2


async def test_a_slot_expires_with_its_hour(tmp_path: Path):
    documents = SqliteDocuments(SqliteDatabase(tmp_path / "keepsake.db"), FirestoreIndexes())

    await HourlyLimits(documents).take(ALICE, "app", hour=NOON, limit=1, taker="id")

    slot = await documents.get("users/alice/limits/app-2026-03-02-12-0")
    assert slot is not None
    assert slot.fields == {"expires_at": ONE}
