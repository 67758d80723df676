"""Residual data on SQLite: no word of an erased user in the log, the queue or the file (S6)."""

import asyncio
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.sqlite_queue import SqliteQueue, SqliteTriggers
from shared.adapters.embedded.sqlite_residual_data import SqliteResidualData
from shared.domain.ids import UserId
from shared.domain.store.documents import Delete, Set
from tests.fakes import AutoAdvanceClock, FixedClock
from tests.fixtures.storage import INDEXES, open_database

ZAPHOD = UserId("zaphod-4711")
PATH = f"users/{ZAPHOD}/conversations/c1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def database(folder: Path) -> Iterator[SqliteDatabase]:
    with open_database(folder) as database:
        yield database


def find_traces(folder: Path, *texts: str) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [
        path.name for path in files if any(text.encode() in path.read_bytes() for text in texts)
    ]


async def write_and_delete(database: SqliteDatabase) -> SqliteQueue:
    """Leave traces in the log, and in the queue by a trigger."""
    queue = SqliteQueue(database, FixedClock())
    triggers = SqliteTriggers(queue, {"users/{uid}/conversations/{id}": "on_written"})
    documents = SqliteDocuments(database, INDEXES, on_change=triggers)
    for n in range(50):
        await documents.write(Set(PATH, {"text": f"heliotrope {n} " * 900}))
    await documents.delete_tree(f"users/{ZAPHOD}")
    return queue


async def test_nothing_is_left_in_any_file_s6(database, folder):
    queue = await write_and_delete(database)
    assert "keepsake.db-wal" in find_traces(folder, ZAPHOD, "heliotrope")

    await SqliteResidualData(queue, AutoAdvanceClock()).erase(ZAPHOD)

    assert find_traces(folder, ZAPHOD, "heliotrope") == []
    assert (folder / "keepsake.db-wal").stat().st_size == 0


async def test_nothing_is_left_where_trees_were_balanced_s6(database, folder):
    """SQLite overwrites deleted rows, but not copies of keys that balancing a tree leaves behind."""
    queue, random = SqliteQueue(database, FixedClock()), Random(0)  # noqa: S311 - the same tree each time
    documents = SqliteDocuments(database, INDEXES)
    paths: list[str] = []
    for n in range(300):
        owner = random.choice([ZAPHOD, ZAPHOD, ZAPHOD, "arthur", "zz-ford"])
        paths.append(f"users/{owner}/runs/{random.getrandbits(120):030x}/batches/{n:08}")
        await documents.write(Set(paths[-1], {"events": "heliotrope " * random.randrange(40)}))
        if random.random() < 0.3:
            await documents.write(Delete(paths.pop(random.randrange(len(paths)))))
    await documents.delete_tree(f"users/{ZAPHOD}")

    await SqliteResidualData(queue, AutoAdvanceClock()).erase(ZAPHOD)

    assert find_traces(folder, ZAPHOD) == []


async def test_a_reader_of_another_process_delays_it_only_s6(database, folder):
    queue = await write_and_delete(database)
    reader = sqlite3.connect(folder / "keepsake.db", isolation_level=None)
    with closing(reader):
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM jobs").fetchone()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(SqliteResidualData(queue, AutoAdvanceClock()).erase(ZAPHOD))
            await asyncio.sleep(0)
            reader.execute("COMMIT")

    assert find_traces(folder, ZAPHOD, "heliotrope") == []


@pytest.mark.parametrize(
    ("kind", "name", "body"),
    [
        ("event", "turn.ended", {"uid": ZAPHOD, "run_id": "r1"}),
        ("task", "close-r1", {"uid": ZAPHOD}),
        ("trigger", PATH, {"old": {"text": "heliotrope"}, "new": None}),
        ("event", "dead_letters", {"ids": {"uid": ZAPHOD}, "source": "turn.ended.after_turn"}),
        ("event", "dead_letters", {"ids": {}, "source": f"{PATH}.on_written"}),
    ],
)
async def test_every_message_about_the_user_goes_and_no_other_s6(
    database: SqliteDatabase, kind: Any, name: str, body: Mapping[str, Any]
) -> None:
    queue = SqliteQueue(database, FixedClock())
    others: list[tuple[Any, str, Mapping[str, Any]]] = [
        ("task", "erase-1", {"erasure_id": "e1"}),
        ("task", "close-r2", {"uid": f"{ZAPHOD}2"}),
        ("trigger", f"users/{ZAPHOD}2/conversations/c1", {"old": {"text": ZAPHOD}, "new": None}),
    ]

    def put_all(connection: sqlite3.Connection) -> None:
        for job_kind, job_name, job_body in ((kind, name, body), *others):
            queue.put(connection, job_kind, "target", job_name, job_body)

    await database.write(put_all)
    (task,) = [job for job in await queue.claim(9) if job.name == "erase-1"]
    await queue.ack(task)

    assert await queue.delete_about(ZAPHOD) == 1

    rows = await database.read(lambda c: c.execute("SELECT name FROM jobs ORDER BY id").fetchall())
    assert [name for (name,) in rows] == [name for _, name, _ in others]
