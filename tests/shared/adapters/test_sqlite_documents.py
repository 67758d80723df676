"""What Firestore's emulator does not show: index entries, listeners, many hands on one file."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.adapters.firestore_indexes import FirestoreIndexes, Index
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_documents import SqliteDocuments
from shared.adapters.sqlite_keys import sort_key
from shared.domain.documents import (
    Create,
    Delete,
    Increment,
    Order,
    Query,
    Set,
    Update,
    Where,
    Write,
    cursor,
)
from shared.domain.errors import AlreadyExists, Invalid, PreconditionFailed, Unavailable
from shared.ports import Transaction

BY_RANK = Index(group="notes", fields=(("kind", "asc"), ("rank", "desc")))
INDEXES = FirestoreIndexes(composite=(BY_RANK,), exempt=frozenset({("notes", "body")}))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "keepsake.db")
    yield database
    database.close()


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
async def test_a_document_with_more_is_refused(documents: SqliteDocuments, many: dict[str, Any]):
    with pytest.raises(Invalid, match="index entries"):
        await documents.write(Set("users/ann/notes/a", many))


async def test_a_listener_is_told_what_changed_and_only_that(database: SqliteDatabase):
    heard: list[Any] = []
    documents = SqliteDocuments(
        database, INDEXES, on_change=lambda _, path, old, new: heard.append((path, old, new))
    )

    await documents.write(Create("users/ann", {"n": 1}), Set("users/bob", {"n": 1}))
    await documents.write(Set("users/ann", {"n": 1}), Update("users/bob", {"n": Increment(1)}))
    await documents.write(Delete("users/nobody"))
    await documents.delete_tree("users/ann")

    assert heard == [
        ("users/ann", None, {"n": 1}),
        ("users/bob", None, {"n": 1}),
        ("users/bob", {"n": 1}, {"n": 2}),
        ("users/ann", {"n": 1}, None),
    ]


async def test_what_a_listener_refuses_is_not_written(database: SqliteDatabase):
    def refuse(*_: Any) -> None:
        raise LookupError

    documents = SqliteDocuments(database, INDEXES, on_change=refuse)

    with pytest.raises(LookupError):
        await documents.write(Set("users/ann", {}))

    assert await documents.get("users/ann") is None


async def test_a_transaction_runs_again_when_what_it_read_has_changed(documents: SqliteDocuments):
    await documents.write(Set("users/ann", {"n": 1}))
    seen = []

    async def interrupted(transaction: Transaction) -> None:
        found = await transaction.get("users/ann")
        assert found is not None
        seen.append(found.fields["n"])
        if len(seen) == 1:
            await documents.write(Set("users/ann", {"n": 2}))
        transaction.write(Update("users/ann", {"n": Increment(10)}))

    await documents.transaction(interrupted)

    found = await documents.get("users/ann")
    assert seen == [1, 2]
    assert found is not None
    assert found.fields == {"n": 12}


async def test_a_transaction_that_is_always_disturbed_gives_up(documents: SqliteDocuments):
    async def disturbed(transaction: Transaction) -> None:
        await transaction.get("users/ann")
        await documents.write(Set("users/ann", {}))
        transaction.write(Set("users/bob", {}))

    with pytest.raises(Unavailable):
        await documents.transaction(disturbed)

    assert await documents.get("users/bob") is None


async def test_twenty_transactions_at_once_lose_no_update(documents: SqliteDocuments):
    await documents.write(Set("users/ann", {"n": 0}))

    async def add(transaction: Transaction) -> None:
        found = await transaction.get("users/ann")
        assert found is not None
        transaction.write(Update("users/ann", {"n": found.fields["n"] + 1}))

    await asyncio.gather(*(documents.transaction(add) for _ in range(20)))

    found = await documents.get("users/ann")
    assert found is not None
    assert found.fields == {"n": 20}


async def test_two_stores_on_one_file_see_each_other(tmp_path: Path, documents: SqliteDocuments):
    second = SqliteDatabase(tmp_path / "keepsake.db")
    other = SqliteDocuments(second, INDEXES)

    await documents.write(Create("users/ann", {"n": 1}))

    with pytest.raises(AlreadyExists):
        await other.write(Create("users/ann", {"n": 2}))
    second.close()


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


def applied(model: MODEL, write: Write) -> MODEL | None:
    """Return the model after a write; None where the write must be refused."""
    there = write.path in model
    match write:
        case Create(path=path, fields=fields):
            return None if there else {**model, path: dict(fields)}
        case Set(path=path, fields=fields):
            return {**model, path: dict(fields)}
        case Update(path=path, changes=changes):
            return {**model, path: {**model[path], **changes}} if there else None
        case Delete(path=path):
            return {other: fields for other, fields in model.items() if other != path}


def asked(model: MODEL, kind: str) -> list[str]:
    found = [p for p, f in model.items() if f.get("kind") == kind and "rank" in f]
    return sorted(found, key=lambda path: (sort_key(model[path]["rank"]), path), reverse=True)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(batches=st.lists(st.lists(WRITES, min_size=1, max_size=4), max_size=12))
async def test_whatever_is_written_a_plain_dict_would_tell_the_same(
    documents: SqliteDocuments, batches: list[list[Write]]
):
    await documents.delete_tree("users/ann")
    model: MODEL = {}
    for batch in batches:
        model = await step(documents, model, batch)

    paths = [f"users/ann/notes/{name}" for name in "abcdefg"]
    found = await documents.get_many(paths)
    assert [document and document.fields for document in found] == [model.get(p) for p in paths]
    assert await in_pages(documents, "x") == asked(model, "x")


async def step(documents: SqliteDocuments, model: MODEL, batch: list[Write]) -> MODEL:
    after: MODEL | None = model
    for write in batch:
        after = None if after is None else applied(after, write)
    if after is None:
        with pytest.raises(PreconditionFailed):
            await documents.write(*batch)
        return model
    await documents.write(*batch)
    return after


async def in_pages(documents: SqliteDocuments, kind: str) -> list[str]:
    """Return the paths of a query that is read two documents at a time."""
    found: list[str] = []
    after = None
    while True:
        query = Query(
            collection="users/ann/notes",
            where=(Where("kind", "==", kind),),
            order_by=(Order("rank", "desc"),),
            limit=2,
            start_after=after,
        )
        page = await documents.query(query)
        found += [document.path for document in page]
        if not page:
            return found
        after = cursor(page[-1], query)
