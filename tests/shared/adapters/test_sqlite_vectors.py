"""SQLite vectors beyond the contract: several processes on one file."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.domain.store.vectors import Hit, Row, SparseVector

TERM = SparseVector((1,), (1.0,))


@pytest.fixture
def two_vectors(tmp_path: Path) -> Iterator[list[SqliteVectors]]:
    """Two indexes on one file, as two processes hold them."""
    with ExitStack() as stack:
        databases = [SqliteDatabase(tmp_path / "keepsake.db") for _ in range(2)]
        for database in databases:
            stack.callback(database.close)
        yield [SqliteVectors(database) for database in databases]


async def search_ids(vectors: SqliteVectors, namespace: str = "ann") -> list[str]:
    return [hit.id for hit in await vectors.query_sparse(namespace, TERM, limit=10)]


async def test_writes_of_another_process_are_visible(two_vectors: list[SqliteVectors]):
    mine, theirs = two_vectors
    await mine.upsert("ann", [Row(id="a", sparse=TERM), Row(id="b", sparse=TERM)])
    assert await search_ids(mine) == await search_ids(theirs) == ["a", "b"]

    await theirs.upsert("ann", [Row(id="a", sparse=SparseVector((2,), (1.0,)))])
    assert await search_ids(mine) == ["b"]

    await theirs.delete("ann", ["b"])
    assert await search_ids(mine) == []


async def test_a_namespace_refilled_by_another_process_is_reloaded(
    two_vectors: list[SqliteVectors],
):
    mine, theirs = two_vectors
    await mine.upsert("ann", [Row(id="old", sparse=TERM)])
    assert await search_ids(mine) == ["old"]

    await theirs.delete_namespace("ann")
    await theirs.upsert("ann", [Row(id="new", sparse=TERM)])

    assert await search_ids(mine) == ["new"]


async def test_dense_rows_of_another_process_are_visible(two_vectors: list[SqliteVectors]):
    mine, theirs = two_vectors
    await theirs.upsert("ann", [Row(id="a", sparse=TERM, dense=(1.0, 0.0))])
    assert [hit.id for hit in await mine.query_dense("ann", (1.0, 0.0), limit=1)] == ["a"]

    await theirs.delete("ann", ["a"])

    assert await mine.query_dense("ann", (1.0, 0.0), limit=1) == []


async def test_vectors_of_another_length_are_not_compared(two_vectors: list[SqliteVectors]):
    vectors = two_vectors[0]
    await vectors.upsert("ann", [Row(id="short", sparse=TERM, dense=(1.0, 0.0))])
    await vectors.upsert("ann", [Row(id="long", sparse=TERM, dense=(1.0, 0.0, 0.0))])

    hits = await vectors.query_dense("ann", (0.0, 1.0, 0.0), limit=5)

    assert [hit.id for hit in hits] == ["long"]


async def test_rows_beyond_the_memory_limit_are_searched_too(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "keepsake.db")
    vectors = SqliteVectors(database, max_rows=3)
    uids = [f"u{n}" for n in range(6)]
    for uid in uids:
        await vectors.upsert(uid, [Row(id=f"{uid}-c", sparse=TERM)])

    results = [await search_ids(vectors, uid) for uid in [*uids, *uids]]
    database.close()

    assert results == [[f"{uid}-c"] for uid in [*uids, *uids]]
    assert sum(map(len, vectors._indexes.values())) <= 3 + 1


async def test_rewriting_one_row_does_not_fill_the_memory(two_vectors: list[SqliteVectors]):
    vectors = two_vectors[0]
    for _ in range(20):
        await vectors.upsert("ann", [Row(id="a", sparse=TERM)])
        assert await search_ids(vectors) == ["a"]

    assert len(vectors._indexes["ann"]) <= 3


writes = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from("abcdefgh"), st.integers(1, 3)),
        st.tuples(st.just("delete"), st.sampled_from("abcdefgh"), st.just(0)),
        st.tuples(st.just("erase"), st.just(""), st.just(0)),
    ),
    max_size=25,
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(writes)
async def test_an_incrementally_updated_index_equals_one_read_at_once(
    history: list[tuple[str, str, int]],
):
    """What one process took in piece by piece ranks as what another reads at once, ties included."""
    with TemporaryDirectory() as folder:
        database = SqliteDatabase(Path(folder) / "keepsake.db")
        incremental, fresh = SqliteVectors(database), SqliteVectors(database)
        for operation, row_id, weight in history:
            await write(incremental, operation, row_id, float(weight))
            await search_ids(incremental)
        sparse_hits = [await query_all_sparse(vectors) for vectors in (incremental, fresh)]
        dense_hits = [await query_all_dense(vectors) for vectors in (incremental, fresh)]
        database.close()

    assert sparse_hits[0] == sparse_hits[1]
    assert dense_hits[0] == dense_hits[1]
    assert (
        {hit.id for hit in sparse_hits[0]}
        == {hit.id for hit in dense_hits[0]}
        == compute_remaining_ids(history)
    )


async def write(vectors: SqliteVectors, operation: str, row_id: str, weight: float) -> None:
    if operation == "put":
        new = Row(id=row_id, sparse=SparseVector((1,), (weight,)), dense=(weight, 2.0))
        await vectors.upsert("ann", [new])
    elif operation == "delete":
        await vectors.delete("ann", [row_id])
    else:
        await vectors.delete_namespace("ann")


async def query_all_sparse(vectors: SqliteVectors) -> list[Hit]:
    return await vectors.query_sparse("ann", TERM, limit=100)


async def query_all_dense(vectors: SqliteVectors) -> list[Hit]:
    return await vectors.query_dense("ann", (1.0, 1.0), limit=100)


def compute_remaining_ids(history: list[tuple[str, str, int]]) -> set[str]:
    ids: set[str] = set()
    for operation, row_id, _ in history:
        ids = {"put": ids | {row_id}, "delete": ids - {row_id}, "erase": set()}[operation]
    return ids
