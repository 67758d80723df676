"""What only the SQLite vector index must show: several processes on one file stay right."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_vectors import SqliteVectors
from shared.domain.vectors import Hit, Row, SparseVector

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


async def test_a_dense_row_written_and_deleted_elsewhere_is_seen(two: list[SqliteVectors]):
    mine, theirs = two
    await theirs.upsert("ann", [Row(id="a", sparse=TERM, dense=(1.0, 0.0))])
    assert [hit.id for hit in await mine.query_dense("ann", (1.0, 0.0), limit=1)] == ["a"]

    await theirs.delete("ann", ["a"])

    assert await mine.query_dense("ann", (1.0, 0.0), limit=1) == []


async def test_vectors_of_another_length_are_not_compared(two: list[SqliteVectors]):
    vectors = two[0]
    await vectors.upsert("ann", [Row(id="short", sparse=TERM, dense=(1.0, 0.0))])
    await vectors.upsert("ann", [Row(id="long", sparse=TERM, dense=(1.0, 0.0, 0.0))])

    hits = await vectors.query_dense("ann", (0.0, 1.0, 0.0), limit=5)

    assert [hit.id for hit in hits] == ["long"]


async def test_more_rows_than_are_held_are_all_searched(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "keepsake.db")
    vectors = SqliteVectors(database, rows_held=3)
    uids = [f"u{n}" for n in range(6)]
    for uid in uids:
        await vectors.upsert(uid, [Row(id=f"{uid}-c", sparse=TERM)])

    twice = [await found(vectors, uid) for uid in [*uids, *uids]]
    database.close()

    assert twice == [[f"{uid}-c"] for uid in [*uids, *uids]]
    assert sum(map(len, vectors._held.values())) <= 3 + 1


async def test_a_row_written_again_and_again_does_not_fill_the_memory(two: list[SqliteVectors]):
    vectors = two[0]
    for _ in range(20):
        await vectors.upsert("ann", [Row(id="a", sparse=TERM)])
        assert await found(vectors) == ["a"]

    assert len(vectors._held["ann"]) <= 3


writes = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from("abcdefgh"), st.integers(1, 3)),
        st.tuples(st.just("delete"), st.sampled_from("abcdefgh"), st.just(0)),
        st.tuples(st.just("erase"), st.just(""), st.just(0)),
    ),
    max_size=25,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(writes)
async def test_an_index_that_follows_every_write_is_the_one_read_at_the_end(
    history: list[tuple[str, str, int]],
):
    """What one process took in piece by piece ranks as what another reads at once, ties included."""
    with TemporaryDirectory() as folder:
        database = SqliteDatabase(Path(folder) / "keepsake.db")
        following, late = SqliteVectors(database), SqliteVectors(database)
        for what, row_id, weight in history:
            await write(following, what, row_id, float(weight))
            await found(following)
        by_words = [await words(vectors) for vectors in (following, late)]
        by_meaning = [await near(vectors) for vectors in (following, late)]
        database.close()

    assert by_words[0] == by_words[1]
    assert by_meaning[0] == by_meaning[1]
    assert {hit.id for hit in by_words[0]} == {hit.id for hit in by_meaning[0]} == left(history)


async def write(vectors: SqliteVectors, what: str, row_id: str, weight: float) -> None:
    if what == "put":
        new = Row(id=row_id, sparse=SparseVector((1,), (weight,)), dense=(weight, 2.0))
        await vectors.upsert("ann", [new])
    elif what == "delete":
        await vectors.delete("ann", [row_id])
    else:
        await vectors.delete_namespace("ann")


async def words(vectors: SqliteVectors) -> list[Hit]:
    return await vectors.query_sparse("ann", TERM, limit=100)


async def near(vectors: SqliteVectors) -> list[Hit]:
    return await vectors.query_dense("ann", (1.0, 1.0), limit=100)


def left(history: list[tuple[str, str, int]]) -> set[str]:
    ids: set[str] = set()
    for what, row_id, _ in history:
        ids = {"put": ids | {row_id}, "delete": ids - {row_id}, "erase": set()}[what]
    return ids
