"""Fixtures of notifications: SQLite, or documents on the Firestore emulator."""

import pytest

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.ports import Documents
from tests.fixtures.notifications import NotificationsFixture, build_notifications_fixture


@pytest.fixture
def world(database: SqliteDatabase) -> NotificationsFixture:
    return build_notifications_fixture(database)


@pytest.fixture
def firestore_world(
    database: SqliteDatabase, firestore_documents: Documents
) -> NotificationsFixture:
    return build_notifications_fixture(database, firestore_documents)
