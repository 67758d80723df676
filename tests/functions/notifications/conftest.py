"""The world in which notifications are tested."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from google.cloud.firestore import AsyncClient

from shared.adapters.cloud.firestore_documents import FirestoreDocuments
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from tests.functions.notifications.fixture import NotificationsFixture, build_fixture


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "keepsake.db")
    yield database
    database.close()


@pytest.fixture
def world(database: SqliteDatabase) -> NotificationsFixture:
    return build_fixture(database)


@pytest.fixture
async def firestore_world(
    firestore_emulator: str, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[NotificationsFixture]:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator)
    client = AsyncClient(project=f"test-{uuid4().hex[:12]}")
    yield build_fixture(database, FirestoreDocuments(client))
    client.close()
