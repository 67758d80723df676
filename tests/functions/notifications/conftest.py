"""The world in which notifications are tested."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.adapters.sqlite_database import SqliteDatabase
from tests.functions.notifications.world import World, world_on


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "keepsake.db")
    yield database
    database.close()


@pytest.fixture
def world(database: SqliteDatabase) -> World:
    return world_on(database)
