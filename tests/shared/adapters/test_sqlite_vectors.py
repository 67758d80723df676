"""What only the SQLite vector index must show: several processes on one file stay right."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_vectors import NAMESPACES_HELD, SqliteVectors
from shared.domain.vectors import Row, SparseVector

TERM = SparseVector((1,), (1.0,))


@pytest.fixture
def two(tmp_path: Path) -> Iterator[list[SqliteVectors]]:
    """Two indexes on one file, as two processes hold them."""
    with ExitStack() as stack:
        databases = [SqliteDatabase(tmp_path / "keepsake.db") for _ in range(2)]
        for database in databases:
            stack.callback(database.close)
        yield [SqliteVectors(database) for database in databases]


async def found(vectors: SqliteVectors, namespace: str = "ann") -> list[str]:
    return [hit.id for hit in await vectors.query_sparse(namespace, TERM, limit=10)]


async def test_what_another_process_wrote_replaced_and_deleted_is_seen(two: list[SqliteVectors]):
    mine, theirs = two
    await mine.upsert("ann", [Row(id="a", sparse=TERM), Row(id="b", sparse=TERM)])
    assert await found(mine) == await found(theirs) == ["a", "b"]

    await theirs.upsert("ann", [Row(id="a", sparse=SparseVector((2,), (1.0,)))])
    assert await found(mine) == ["b"]

    await theirs.delete("ann", ["b"])
    assert await found(mine) == []


async def test_a_namespace_emptied_and_refilled_elsewhere_is_read_anew(two: list[SqliteVectors]):
    mine, theirs = two
    await mine.upsert("ann", [Row(id="old", sparse=TERM)])
    assert await found(mine) == ["old"]

    await theirs.delete_namespace("ann")
    await theirs.upsert("ann", [Row(id="new", sparse=TERM)])

    assert await found(mine) == ["new"]


async def test_more_namespaces_than_are_held_are_all_searched(two: list[SqliteVectors]):
    vectors = two[0]
    uids = [f"u{n}" for n in range(NAMESPACES_HELD + 3)]
    for uid in uids:
        await vectors.upsert(uid, [Row(id=f"{uid}-c", sparse=TERM)])

    twice = [await found(vectors, uid) for uid in [*uids, *uids]]

    assert twice == [[f"{uid}-c"] for uid in [*uids, *uids]]
    assert len(vectors._held) == NAMESPACES_HELD


async def test_a_row_written_again_and_again_does_not_fill_the_memory(two: list[SqliteVectors]):
    vectors = two[0]
    for _ in range(20):
        await vectors.upsert("ann", [Row(id="a", sparse=TERM)])
        assert await found(vectors) == ["a"]

    assert len(vectors._held["ann"]._ids) <= 3
