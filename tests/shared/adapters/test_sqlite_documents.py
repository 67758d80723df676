"""SQLite documents beyond the contract: index entries, listeners, several processes on one file."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.sqlite_keys import build_sort_key
from shared.adapters.firestore_indexes import FirestoreIndexes, Index
from shared.domain.errors import AlreadyExists, Invalid, PreconditionFailed, Unavailable
from shared.domain.store.documents import (
    Create,
    Delete,
    Increment,
    Order,
    Query,
    Set,
    Update,
    Where,
    Write,
    build_cursor,
)
from shared.ports import Transaction

BY_RANK = Index(group="notes", fields=(("kind", "asc"), ("rank", "desc")))
INDEXES = FirestoreIndexes(composite=(BY_RANK,), exempt_fields=frozenset({("notes", "body")}))


@pytest.fixture
def documents(database: SqliteDatabase) -> SqliteDocuments:
    return SqliteDocuments(database, INDEXES)


async def test_a_query_without_its_index_is_refused(documents: SqliteDocuments):
    query = Query(
        collection="users/ann/notes", where=(Where("kind", "==", "x"),), order_by=(Order("rank"),)
    )

    with pytest.raises(Invalid, match=r"firestore\.indexes\.json"):
        await documents.query(query)
    with pytest.raises(Invalid, match=r"firestore\.indexes\.json"):
        await documents.count(query)


@pytest.mark.parametrize(
    "many",
    [
        {"list": list(range(40_000))},
        {f"f{n}": n for n in range(20_000)},
        {"map": {f"f{n}": {"x": n} for n in range(20_000)}},
        {"body": list(range(100_000))},
        {"list": [1] * 90_000},
    ],
    ids=["items", "fields", "fields below", "exempt", "equal items"],
)
async def test_a_document_within_40_000_index_entries_is_stored(
    documents: SqliteDocuments, many: dict[str, Any]
):
    await documents.write(Set("users/ann/notes/a", many))

    assert await documents.get("users/ann/notes/a") is not None


@pytest.mark.parametrize(
    "many",
    [
        {"list": list(range(40_001))},
        {"list": list(range(39_999)), "n": 1},
        {f"f{n}": n for n in range(20_001)},
    ],
    ids=["items", "items and a field", "fields"],
)
async def test_a_document_with_more_than_40_000_index_entries_is_refused(
    documents: SqliteDocuments, many: dict[str, Any]
):
    with pytest.raises(Invalid, match="index entries"):
        await documents.write(Set("users/ann/notes/a", many))


async def test_a_listener_is_called_for_changes_only(database: SqliteDatabase):
    changes: list[Any] = []
    documents = SqliteDocuments(
        database, INDEXES, on_change=lambda _, path, old, new: changes.append((path, old, new))
    )

    await documents.write(Create("users/ann", {"n": 1}), Set("users/bob", {"n": 1}))
    await documents.write(Set("users/ann", {"n": 1}), Update("users/bob", {"n": Increment(1)}))
    await documents.write(Delete("users/nobody"))
    await documents.delete_tree("users/ann")

    assert changes == [
        ("users/ann", None, {"n": 1}),
        ("users/bob", None, {"n": 1}),
        ("users/bob", {"n": 1}, {"n": 2}),
        ("users/ann", {"n": 1}, None),
    ]


async def test_a_write_is_rolled_back_when_the_listener_fails(database: SqliteDatabase):
    def refuse(*_: Any) -> None:
        raise LookupError

    documents = SqliteDocuments(database, INDEXES, on_change=refuse)

    with pytest.raises(LookupError):
        await documents.write(Set("users/ann", {}))

    assert await documents.get("users/ann") is None


async def test_a_transaction_is_retried_when_its_reads_have_changed(documents: SqliteDocuments):
    await documents.write(Set("users/ann", {"n": 1}))
    values_read = []

    async def change_between(transaction: Transaction) -> None:
        document = await transaction.get("users/ann")
        assert document is not None
        values_read.append(document.fields["n"])
        if len(values_read) == 1:
            await documents.write(Set("users/ann", {"n": 2}))
        transaction.write(Update("users/ann", {"n": Increment(10)}))

    await documents.transaction(change_between)

    document = await documents.get("users/ann")
    assert values_read == [1, 2]
    assert document is not None
    assert document.fields == {"n": 12}


async def test_a_transaction_under_constant_contention_is_unavailable(documents: SqliteDocuments):
    async def change_between(transaction: Transaction) -> None:
        await transaction.get("users/ann")
        await documents.write(Set("users/ann", {}))
        transaction.write(Set("users/bob", {}))

    with pytest.raises(Unavailable):
        await documents.transaction(change_between)

    assert await documents.get("users/bob") is None


async def test_twenty_transactions_at_once_lose_no_update(documents: SqliteDocuments):
    await documents.write(Set("users/ann", {"n": 0}))

    async def add(transaction: Transaction) -> None:
        document = await transaction.get("users/ann")
        assert document is not None
        transaction.write(Update("users/ann", {"n": document.fields["n"] + 1}))

    await asyncio.gather(*(documents.transaction(add) for _ in range(20)))

    document = await documents.get("users/ann")
    assert document is not None
    assert document.fields == {"n": 20}


async def test_two_stores_on_one_file_see_each_other(tmp_path: Path, documents: SqliteDocuments):
    second_database = SqliteDatabase(tmp_path / "keepsake.db")
    other = SqliteDocuments(second_database, INDEXES)

    await documents.write(Create("users/ann", {"n": 1}))

    with pytest.raises(AlreadyExists):
        await other.write(Create("users/ann", {"n": 2}))
    second_database.close()


# A plain dict as the model: whatever is done, both tell the same.

NAMES = st.sampled_from("abcdefg")
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["x", "y"]),
        "rank": st.one_of(st.integers(-2, 2), st.floats(-2, 2), st.none(), st.text(max_size=2)),
    },
)
PATHS = NAMES.map(lambda name: f"users/ann/notes/{name}")
WRITES = st.one_of(
    st.builds(Create, PATHS, FIELDS),
    st.builds(Set, PATHS, FIELDS),
    st.builds(Update, PATHS, st.fixed_dictionaries({"rank": st.integers(-2, 2)})),
    st.builds(Delete, PATHS),
)
MODEL = dict[str, dict[str, Any]]


def apply_to_model(model: MODEL, write: Write) -> MODEL | None:
    """Return the model after a write; None where the write must be refused."""
    is_stored = write.path in model
    match write:
        case Create(path=path, fields=fields):
            return None if is_stored else {**model, path: dict(fields)}
        case Set(path=path, fields=fields):
            return {**model, path: dict(fields)}
        case Update(path=path, changes=changes):
            return {**model, path: {**model[path], **changes}} if is_stored else None
        case Delete(path=path):
            return {other: fields for other, fields in model.items() if other != path}


def query_model(model: MODEL, kind: str) -> list[str]:
    paths = [p for p, f in model.items() if f.get("kind") == kind and "rank" in f]
    return sorted(paths, key=lambda path: (build_sort_key(model[path]["rank"]), path), reverse=True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(WRITES, min_size=1, max_size=4), max_size=12))
async def test_documents_behave_like_a_plain_dict(
    documents: SqliteDocuments, batches: list[list[Write]]
):
    await documents.delete_tree("users/ann")
    model: MODEL = {}
    for batch in batches:
        model = await apply_batch(documents, model, batch)

    paths = [f"users/ann/notes/{name}" for name in "abcdefg"]
    stored_documents = await documents.get_many(paths)
    assert [document and document.fields for document in stored_documents] == [
        model.get(p) for p in paths
    ]
    assert await query_in_pages(documents, "x") == query_model(model, "x")


async def apply_batch(documents: SqliteDocuments, model: MODEL, batch: list[Write]) -> MODEL:
    next_model: MODEL | None = model
    for write in batch:
        next_model = None if next_model is None else apply_to_model(next_model, write)
    if next_model is None:
        with pytest.raises(PreconditionFailed):
            await documents.write(*batch)
        return model
    await documents.write(*batch)
    return next_model


async def query_in_pages(documents: SqliteDocuments, kind: str) -> list[str]:
    """Return the paths of a query that is read two documents at a time."""
    paths: list[str] = []
    start_after = None
    while True:
        query = Query(
            collection="users/ann/notes",
            where=(Where("kind", "==", kind),),
            order_by=(Order("rank", "desc"),),
            limit=2,
            start_after=start_after,
        )
        page = await documents.query(query)
        paths += [document.path for document in page]
        if not page:
            return paths
        start_after = build_cursor(page[-1], query)
