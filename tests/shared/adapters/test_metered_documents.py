"""Reads and writes of documents, counted as Firestore bills them (C75)."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from shared import telemetry
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.metered_documents import MeteredDocuments
from shared.domain.errors import AlreadyExists
from shared.domain.store.documents import Create, Query, Set, Update
from shared.ports import Documents, Transaction

NOTES = "users/ann/notes"
NOTES_QUERY = Query(collection=NOTES)
EMPTY_QUERY = Query(collection="users/ann/songs")


@pytest.fixture
async def documents(tmp_path: Path) -> Documents:
    sqlite_documents = SqliteDocuments(
        SqliteDatabase(tmp_path / "db"), FirestoreIndexes(composite=())
    )
    await sqlite_documents.write(*(Set(f"{NOTES}/{n}", {"n": n}) for n in range(3)))
    return MeteredDocuments(sqlite_documents)


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
        (lambda d: d.query(NOTES_QUERY), 3, 0),
        (lambda d: d.query(EMPTY_QUERY), 1, 0),
        (lambda d: d.count(NOTES_QUERY), 1, 0),
        (lambda d: d.write(Set(f"{NOTES}/8", {}), Set(f"{NOTES}/9", {})), 0, 2),
        (move, 3, 2),
        (collide, 0, 0),
        (lambda d: d.delete_tree("users/ann"), 3, 3),
    ],
    ids=["get", "missing", "many", "query", "none", "count", "write", "move", "collide", "tree"],
)
async def test_reads_and_writes_are_counted_as_firestore_bills_them_c75(
    documents: Documents, work: Callable[[Documents], Awaitable[object]], reads: int, writes: int
) -> None:
    with telemetry.log_request("test"):
        await work(documents)
        log_fields = telemetry.get_fields()

    assert (log_fields.get("reads", 0), log_fields.get("writes", 0)) == (reads, writes)


async def test_a_retried_transaction_counts_its_reads_again_c75(documents: Documents) -> None:
    runs = 0

    async def work(transaction: Transaction) -> None:
        nonlocal runs
        runs += 1
        await transaction.get(f"{NOTES}/0")
        if runs == 1:
            await documents.write(Set(f"{NOTES}/0", {"n": 8}))
        transaction.write(Set(f"{NOTES}/0", {"n": 9}))

    with telemetry.log_request("test"):
        await documents.transaction(work)
        log_fields = telemetry.get_fields()

    assert (log_fields["reads"], log_fields["writes"]) == (2, 2)
