import asyncio
import hashlib
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from shared.adapters import sqlite_documents, sqlite_queue, sqlite_vectors
from shared.adapters.sqlite_database import LAYOUT, OtherLayout, SqliteDatabase

ROOT = Path(__file__).parents[3]
TABLE = "CREATE TABLE IF NOT EXISTS seen (n INTEGER)"
COUNT = "SELECT count(*) FROM seen"
INSERT = "INSERT INTO seen VALUES (1)"
WRITER = f"""
import asyncio, pathlib, sys
from shared.adapters.sqlite_database import SqliteDatabase
database = SqliteDatabase(pathlib.Path(sys.argv[1]))
database.schema({TABLE!r})
async def main():
    for n in range(50):
        await database.write(lambda connection: connection.execute({INSERT!r}))
asyncio.run(main())
"""


def count(connection: sqlite3.Connection) -> int:
    total: int = connection.execute(COUNT).fetchone()[0]
    return total


async def test_what_fails_halfway_leaves_nothing(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "made" / "on the way.db")
    database.schema(TABLE)

    def half(connection: sqlite3.Connection) -> None:
        connection.execute(INSERT)
        raise LookupError

    with pytest.raises(LookupError):
        await database.write(half)

    assert await database.read(count) == 0
    database.close()


async def test_tables_may_be_asked_for_after_the_first_use(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "keepsake.db")
    await database.read(lambda connection: connection.execute("SELECT 1").fetchone())

    database.schema(TABLE)

    assert sum(await asyncio.gather(database.read(count), database.read(count))) == 0
    database.close()


async def test_processes_that_start_at_once_share_a_new_file(tmp_path: Path):
    path = tmp_path / "keepsake.db"
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", WRITER, str(path)]

    started = [
        await asyncio.create_subprocess_exec(*command, cwd=ROOT, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    errors = [(await process.communicate())[1] for process in started]

    database = SqliteDatabase(path)
    assert errors == [b"", b"", b""]
    assert await database.read(count) == 150
    database.close()


@pytest.mark.parametrize("layout", [0, LAYOUT + 1])
async def test_a_file_of_another_version_is_refused_and_left_alone(tmp_path: Path, layout: int):
    path = tmp_path / "keepsake.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute(TABLE)
        other.execute(f"PRAGMA user_version = {layout}")
    database = SqliteDatabase(path)
    database.schema("CREATE TABLE IF NOT EXISTS more (n INTEGER)")

    for work in (database.read, database.write):
        with pytest.raises(OtherLayout, match=f"layout {layout}, this one reads {LAYOUT}"):
            await work(count)

    database.close()
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("seen",)]
        assert other.execute("PRAGMA user_version").fetchone() == (layout,)


def test_the_layout_is_raised_with_every_change_of_a_table():
    """Where this fails, raise LAYOUT if files made before lack what is new, then write both anew."""
    tables = f"{sqlite_documents.SCHEMA}\n{sqlite_queue.SCHEMA}\n{sqlite_vectors.SCHEMA}"

    assert (LAYOUT, hashlib.sha256(tables.encode()).hexdigest()[:16]) == (1, "ca2f7e843786a999")
