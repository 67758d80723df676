"""The database in which processing is tested."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.adapters.sqlite_database import SqliteDatabase


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "keepsake.db")
    yield database
    database.close()
