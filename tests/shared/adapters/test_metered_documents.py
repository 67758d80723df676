"""What documents cost, counted where the work is done (C75)."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from shared import telemetry
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.metered_documents import MeteredDocuments
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_documents import SqliteDocuments
from shared.domain.documents import Create, Query, Set, Update
from shared.domain.errors import AlreadyExists
from shared.ports import Documents, Transaction

NOTES = "users/ann/notes"
ALL = Query(collection=NOTES)
NONE = Query(collection="users/ann/songs")


@pytest.fixture
async def documents(tmp_path: Path) -> Documents:
    stored = SqliteDocuments(SqliteDatabase(tmp_path / "db"), FirestoreIndexes(composite=()))
    await stored.write(*(Set(f"{NOTES}/{n}", {"n": n}) for n in range(3)))
    return MeteredDocuments(stored)


async def move(documents: Documents) -> None:
    async def work(transaction: Transaction) -> None:
        await transaction.get(f"{NOTES}/0")
        await transaction.get_many([f"{NOTES}/1", f"{NOTES}/2"])
        transaction.write(Update(f"{NOTES}/0", {"n": 7}), Set(f"{NOTES}/9", {}))

    await documents.transaction(work)


async def collide(documents: Documents) -> None:
    with pytest.raises(AlreadyExists):
        await documents.write(Create(f"{NOTES}/0", {}))


@pytest.mark.parametrize(
    ("work", "reads", "writes"),
    [
        (lambda d: d.get(f"{NOTES}/0"), 1, 0),
        (lambda d: d.get(f"{NOTES}/none"), 1, 0),
        (lambda d: d.get_many([f"{NOTES}/0", f"{NOTES}/none"]), 2, 0),
        (lambda d: d.query(ALL), 3, 0),
        (lambda d: d.query(NONE), 1, 0),
        (lambda d: d.count(ALL), 1, 0),
        (lambda d: d.write(Set(f"{NOTES}/8", {}), Set(f"{NOTES}/9", {})), 0, 2),
        (move, 3, 2),
        (collide, 0, 0),
        (lambda d: d.delete_tree("users/ann"), 3, 3),
    ],
    ids=["get", "missing", "many", "query", "none", "count", "write", "move", "collide", "tree"],
)
async def test_c75_reads_and_writes_are_counted_as_firestore_bills_them(
    documents: Documents, work: Callable[[Documents], Awaitable[object]], reads: int, writes: int
) -> None:
    with telemetry.request("test"):
        await work(documents)
        counted = telemetry.facts()

    assert (counted.get("reads", 0), counted.get("writes", 0)) == (reads, writes)


async def test_c75_a_transaction_that_runs_again_reads_again(documents: Documents) -> None:
    runs = 0

    async def work(transaction: Transaction) -> None:
        nonlocal runs
        runs += 1
        await transaction.get(f"{NOTES}/0")
        if runs == 1:
            await documents.write(Set(f"{NOTES}/0", {"n": 8}))
        transaction.write(Set(f"{NOTES}/0", {"n": 9}))

    with telemetry.request("test"):
        await documents.transaction(work)
        counted = telemetry.facts()

    assert (counted["reads"], counted["writes"]) == (2, 2)
