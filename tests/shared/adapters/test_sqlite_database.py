import asyncio
import hashlib
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from shared.adapters.embedded import sqlite_documents, sqlite_queue, sqlite_vectors
from shared.adapters.embedded.sqlite_database import (
    LAYOUT_VERSION,
    WRITES_PER_CHECKPOINT,
    DatabaseUnusable,
    LayoutMismatch,
    SqliteDatabase,
)

ROOT = Path(__file__).parents[3]
TABLE = "CREATE TABLE IF NOT EXISTS seen (n INTEGER)"
COUNT = "SELECT count(*) FROM seen"
INSERT = "INSERT INTO seen VALUES (1)"
WRITER = f"""
import asyncio, pathlib, sys
from shared.adapters.embedded.sqlite_database import SqliteDatabase
database = SqliteDatabase(pathlib.Path(sys.argv[1]))
database.add_schema({TABLE!r})
async def main():
    for n in range(50):
        await database.write(lambda connection: connection.execute({INSERT!r}))
asyncio.run(main())
"""


def count_rows(connection: sqlite3.Connection) -> int:
    total: int = connection.execute(COUNT).fetchone()[0]
    return total


async def test_a_write_that_fails_halfway_changes_nothing(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "made" / "on the way.db")
    database.add_schema(TABLE)

    def fail_halfway(connection: sqlite3.Connection) -> None:
        connection.execute(INSERT)
        raise LookupError

    with pytest.raises(LookupError):
        await database.write(fail_halfway)

    assert await database.read(count_rows) == 0
    database.close()


async def test_tables_may_be_added_after_the_first_use(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "keepsake.db")
    await database.read(lambda connection: connection.execute("SELECT 1").fetchone())

    database.add_schema(TABLE)

    assert sum(await asyncio.gather(database.read(count_rows), database.read(count_rows))) == 0
    database.close()


async def test_brief_work_runs_in_the_event_loop_and_all_other_in_threads(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "keepsake.db")
    database.add_schema(TABLE)
    await database.read(count_rows)

    def name_thread(_: sqlite3.Connection) -> str:
        return threading.current_thread().name

    own_name = threading.current_thread().name
    assert await database.read(name_thread, is_brief=True) == own_name
    assert await database.write(name_thread, is_brief=True) == own_name
    assert own_name not in {await database.read(name_thread), await database.write(name_thread)}
    database.close()


async def test_a_brief_write_waits_in_a_thread_while_the_file_is_busy(tmp_path: Path):
    database, other = (SqliteDatabase(tmp_path / "keepsake.db") for _ in range(2))
    database.add_schema(TABLE)
    await database.read(count_rows)
    holds, may_end = threading.Event(), threading.Event()

    def hold(connection: sqlite3.Connection) -> None:
        connection.execute(INSERT)
        holds.set()
        may_end.wait(30)

    async def write_meanwhile() -> None:
        await asyncio.to_thread(holds.wait, 30)
        write = asyncio.create_task(
            database.write(lambda connection: connection.execute(INSERT), is_brief=True)
        )
        assert await database.read(count_rows, is_brief=True) == 0
        may_end.set()
        await write

    await asyncio.gather(other.write(hold), write_meanwhile())

    assert await database.read(count_rows, is_brief=True) == 2
    database.close()
    other.close()


async def test_the_log_of_brief_writes_is_copied_into_the_file(tmp_path: Path):
    path = tmp_path / "keepsake.db"
    database = SqliteDatabase(path)
    database.add_schema("CREATE TABLE IF NOT EXISTS texts (text TEXT)")
    page = "x" * 20_000

    for _ in range(2 * WRITES_PER_CHECKPOINT):
        await database.write(
            lambda connection: connection.execute("INSERT INTO texts VALUES (?)", (page,)),
            is_brief=True,
        )

    assert path.stat().st_size > WRITES_PER_CHECKPOINT * len(page)
    database.close()


async def test_processes_that_start_at_once_share_a_new_file(tmp_path: Path):
    path = tmp_path / "keepsake.db"
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", WRITER, str(path)]

    processes = [
        await asyncio.create_subprocess_exec(*command, cwd=ROOT, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    errors = [(await process.communicate())[1] for process in processes]

    database = SqliteDatabase(path)
    assert errors == [b"", b"", b""]
    assert await database.read(count_rows) == 150
    database.close()


@pytest.mark.parametrize("layout", [0, LAYOUT_VERSION + 1])
async def test_a_file_of_another_layout_version_is_refused_and_not_changed(
    tmp_path: Path, layout: int
):
    path = tmp_path / "keepsake.db"
    with closing(sqlite3.connect(path)) as raw_connection:
        raw_connection.execute(TABLE)
        raw_connection.execute(f"PRAGMA user_version = {layout}")
    database = SqliteDatabase(path)
    database.add_schema("CREATE TABLE IF NOT EXISTS more (n INTEGER)")

    for work in (database.read, database.write):
        with pytest.raises(
            LayoutMismatch, match=f"layout {layout}, this one reads {LAYOUT_VERSION}"
        ):
            await work(count_rows)

    database.close()
    with closing(sqlite3.connect(path)) as raw_connection:
        assert raw_connection.execute("SELECT name FROM sqlite_master").fetchall() == [("seen",)]
        assert raw_connection.execute("PRAGMA user_version").fetchone() == (layout,)


@pytest.mark.parametrize("is_brief", [False, True])
async def test_a_file_that_no_longer_fits_its_tables_is_called_damaged(
    tmp_path: Path, *, is_brief: bool
):
    path = tmp_path / "keepsake.db"
    with closing(SqliteDatabase(path)) as database:
        database.add_schema(TABLE)
        await database.write(lambda connection: connection.execute(INSERT))
    path.write_bytes(path.read_bytes()[:4096] + b"damaged" * 1000)

    with (
        closing(SqliteDatabase(path)) as database,
        pytest.raises(DatabaseUnusable, match=r"keepsake\.db: .*malformed: restore a backup"),
    ):
        await database.read(count_rows, is_brief=is_brief)


def test_every_change_of_a_table_raises_the_layout_version():
    """Where this fails, raise LAYOUT if files made before lack what is new, then write both anew."""
    tables = f"{sqlite_documents.SCHEMA}\n{sqlite_queue.SCHEMA}\n{sqlite_vectors.SCHEMA}"

    assert (LAYOUT_VERSION, hashlib.sha256(tables.encode()).hexdigest()[:16]) == (
        1,
        "79e9ce49956f1113",
    )
