"""Statements of the embedded queue: they read the jobs that they are about, and no others."""

import sqlite3
from pathlib import Path

import pytest

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_queue import (
    CLAIM,
    COUNT_UNFINISHED,
    SELECT_LOST,
    SqliteQueue,
    SqliteTasks,
)
from tests.fakes import FixedClock


@pytest.mark.parametrize(
    ("sql", "index"),
    [
        (SELECT_LOST, "INDEX jobs_lost (due<?)"),
        (CLAIM, "INDEX jobs_waiting (due<?)"),
        (COUNT_UNFINISHED, "INDEX jobs_waiting (due<?)"),
    ],
)
async def test_a_statement_seeks_in_its_index(database: SqliteDatabase, sql: str, index: str):
    queue = SqliteQueue(database, FixedClock())
    values = (1,) * sql.count("?")

    plan = await queue.database.read(
        lambda connection: connection.execute(f"EXPLAIN QUERY PLAN {sql}", values).fetchall()
    )

    assert [step for *_, step in plan if "due<?" in step] == [f"SEARCH jobs USING {index}"]


async def test_a_file_of_an_earlier_release_gets_the_indexes(tmp_path: Path):
    path = tmp_path / "keepsake.db"
    earlier = SqliteDatabase(path)
    await SqliteTasks(SqliteQueue(earlier, FixedClock())).create("index", "t1", {})
    await earlier.write(_restore_earlier_indexes)
    earlier.close()

    database = SqliteDatabase(path)
    [job] = await SqliteQueue(database, FixedClock()).claim(10)
    names = await database.read(_list_indexes)
    database.close()

    assert job.name == "t1"
    assert names == {"jobs_waiting", "jobs_lost", "jobs_ended", "jobs_task"}


def _restore_earlier_indexes(connection: sqlite3.Connection) -> None:
    for name in _list_indexes(connection) & {"jobs_waiting", "jobs_lost"}:
        connection.execute(f"DROP INDEX {name}")
    connection.execute("CREATE INDEX IF NOT EXISTS jobs_due ON jobs (due, id) WHERE ended IS NULL")


def _list_indexes(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute("SELECT name FROM pragma_index_list('jobs')")
    return {name for (name,) in rows}
