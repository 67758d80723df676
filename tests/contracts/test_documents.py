"""Documents contract, on SQLite and on Firestore's emulator."""

import asyncio
import math
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.firestore_indexes import FirestoreIndexes, Index
from shared.adapters.memory_database import MemoryDatabase
from shared.data.store.hourly_limits import HourlyLimits
from shared.domain.errors import AlreadyExists, Invalid, PreconditionFailed
from shared.domain.ids import UserId
from shared.domain.store.documents import (
    ArrayUnion,
    Create,
    Delete,
    Document,
    Increment,
    Order,
    Query,
    Remove,
    Set,
    Update,
    Where,
    build_cursor,
)
from shared.ports import Documents, Transaction

INDEXES = FirestoreIndexes(
    due_groups=frozenset({"runs"}),
    composite=(
        Index(group="notes", fields=(("kind", "asc"), ("rank", "desc"))),
        Index(group="notes", fields=(("kind", "desc"), ("rank", "asc"), ("size", "desc"))),
        Index(group="notes", fields=(("tags", "array_contains"), ("rank", "asc"))),
        Index(group="notes", fields=(("until", "desc"), ("rank", "desc"))),
        Index(
            group="notes", fields=(("rank", "asc"), ("size.words", "asc"), ("size.lines", "asc"))
        ),
    ),
)
NOON = datetime(2026, 3, 2, 12, 0, 0, 123456, tzinfo=UTC)
ANN = UserId("ann")
NOTES = "users/ann/notes"
RUN = "users/ann/runs/n"


@pytest.fixture(params=["sqlite", "memory", pytest.param("firestore", marks=pytest.mark.emulators)])
def documents(request: pytest.FixtureRequest, database: SqliteDatabase) -> Iterator[Documents]:
    match request.param:
        case "sqlite":
            yield SqliteDocuments(database, INDEXES)
        case "memory":
            with closing(MemoryDatabase()) as memory:
                yield SqliteDocuments(memory, INDEXES)
        case _:
            yield request.getfixturevalue("firestore_documents")


async def read_fields(documents: Documents, path: str) -> Any:
    document = await documents.get(path)
    return None if document is None else document.fields


async def query_ids(documents: Documents, **query: Any) -> list[str]:
    documents_found = await documents.query(Query(collection=NOTES, **query))
    return [document.id for document in documents_found]


async def store_notes(documents: Documents, notes: dict[str, dict[str, Any]]) -> None:
    await documents.write(*(Set(f"{NOTES}/{name}", note) for name, note in notes.items()))


# One document


async def test_every_kind_of_value_comes_back_as_it_was(documents: Documents):
    note = {
        "nothing": None, "yes": True, "whole": 2**63 - 1, "part": -0.5, "text": "añ𐍈\x00\x01",
        "raw": b"\x00\xff", "time": NOON, "empty": {}, "list": [1, "1", None, {"deep": [NOON]}],
        "map": {"a": {"b.c": [b"x"]}},
    }  # fmt: skip

    await documents.write(Set("users/ann", note))

    assert await read_fields(documents, "users/ann") == note


async def test_true_is_not_one(documents: Documents):
    await documents.write(Set("users/ann", {"yes": True, "one": 1, "half": 1.0}))

    stored_fields = await read_fields(documents, "users/ann")

    assert [type(stored_fields[name]) for name in ("yes", "one", "half")] == [bool, int, float]


async def test_a_time_of_another_zone_comes_back_in_utc(documents: Documents):
    local_time = NOON.astimezone(timezone(timedelta(hours=5, minutes=30)))

    await documents.write(Set("users/ann", {"at": local_time}))

    stored_fields = await read_fields(documents, "users/ann")
    assert stored_fields["at"] == NOON
    assert stored_fields["at"].utcoffset() == timedelta(0)


async def test_a_missing_document_is_none(documents: Documents):
    assert await documents.get("users/nobody") is None


async def test_get_many_keeps_the_order_of_the_paths(documents: Documents):
    await store_notes(documents, {"a": {"n": 1}, "b": {"n": 2}})

    stored_documents = await documents.get_many(
        [f"{NOTES}/{name}" for name in ("b", "x", "a", "b")]
    )

    assert [document and document.fields["n"] for document in stored_documents] == [2, None, 1, 2]
    assert await documents.get_many([]) == []


async def test_a_document_that_changed_since_a_known_version_comes_whole(documents: Documents):
    await store_notes(documents, {"a": {"n": 1}, "b": {"n": 2}})
    paths = [f"{NOTES}/a", f"{NOTES}/b"]
    read = [document for document in await documents.get_many(paths) if document]
    known = {document.path: document.version for document in read}
    await documents.write(Update(paths[1], {"n": 3}))

    [same, changed] = await documents.get_many(paths, known=known)

    assert same
    assert (same.version, changed and changed.fields) == (known[paths[0]], {"n": 3})


async def test_a_transaction_may_read_and_write_nothing(documents: Documents):
    async def work(transaction: Transaction) -> list[Document | None]:
        stored_documents = await transaction.get_many([])
        transaction.write()
        return stored_documents

    assert await documents.transaction(work) == []
    await documents.write()


async def test_create_refuses_an_existing_document(documents: Documents):
    await documents.write(Create("users/ann", {"n": 1}))

    with pytest.raises(AlreadyExists):
        await documents.write(Create("users/ann", {"n": 2}))

    assert await read_fields(documents, "users/ann") == {"n": 1}


async def test_set_replaces_the_whole_document(documents: Documents):
    await documents.write(Set("users/ann", {"old": 1}))
    await documents.write(Set("users/ann", {"new": 1}))

    assert await read_fields(documents, "users/ann") == {"new": 1}


async def test_a_deleted_document_is_missing_and_deleting_a_missing_one_is_no_error(
    documents: Documents,
):
    await documents.write(Set("users/ann", {"n": 1}))

    await documents.write(Delete("users/ann"), Delete("users/nobody"))

    assert await documents.get("users/ann") is None


# Updates


async def test_an_update_changes_named_fields_and_keeps_the_others(documents: Documents):
    await documents.write(Set("users/ann", {"keep": 1, "map": {"keep": 1, "old": 1}, "gone": 1}))

    await documents.write(
        Update(
            "users/ann",
            {"map.old": 2, "made.on-the.way": 3, "gone": Remove(), "map.never": Remove()},
        )
    )

    assert await read_fields(documents, "users/ann") == {
        "keep": 1,
        "map": {"keep": 1, "old": 2},
        "made": {"on-the": {"way": 3}},
    }


async def test_an_update_of_a_missing_document_is_refused(documents: Documents):
    with pytest.raises(PreconditionFailed):
        await documents.write(Update("users/nobody", {"n": 1}))
    with pytest.raises(Invalid):
        await documents.write(Update("users/nobody", {}))


@pytest.mark.parametrize(
    ("before", "by", "after"),
    [
        ({}, 2, 2),
        ({"n": 1}, -3, -2),
        ({"n": 0.5}, 1, 1.5),
        ({"n": "text"}, 2, 2),
        ({"n": 2**63 - 1}, 1, 2**63 - 1),
    ],
)
async def test_an_increment_adds(documents: Documents, before: dict[str, Any], by: int, after: Any):
    await documents.write(Set("users/ann", before))

    await documents.write(Update("users/ann", {"n": Increment(by)}))

    assert await read_fields(documents, "users/ann") == {"n": after}


@pytest.mark.parametrize(
    ("before", "added", "after"),
    [
        ({}, ("a", "a"), ["a"]),
        ({"list": ["a", "b"]}, ("b", "c"), ["a", "b", "c"]),
        ({"list": [1]}, (True, 1.0, "1"), [1, True, "1"]),
        ({"list": "text"}, ("a",), ["a"]),
        ({"list": [{"x": 1, "y": 2}]}, ({"y": 2, "x": 1}, {"x": 1}), [{"x": 1, "y": 2}, {"x": 1}]),
    ],
)
async def test_an_array_union_appends_missing_values(
    documents: Documents, before: dict[str, Any], added: tuple[Any, ...], after: list[Any]
):
    await documents.write(Set("users/ann", before))

    await documents.write(Update("users/ann", {"list": ArrayUnion(added)}))

    stored_list = (await read_fields(documents, "users/ann"))["list"]
    assert [(type(item), item) for item in stored_list] == [(type(item), item) for item in after]


async def test_a_write_with_a_stale_version_fails(documents: Documents):
    await documents.write(Set("users/ann", {"n": 1}))
    document = await documents.get("users/ann")
    assert document is not None

    await documents.write(Update("users/ann", {"n": 2}, version=document.version))

    with pytest.raises(PreconditionFailed):
        await documents.write(Update("users/ann", {"n": 3}, version=document.version))
    with pytest.raises(PreconditionFailed):
        await documents.write(Delete("users/ann", version=document.version))
    with pytest.raises(PreconditionFailed):
        await documents.write(Delete("users/nobody", version=document.version))
    assert await read_fields(documents, "users/ann") == {"n": 2}


async def test_writes_are_applied_all_or_none(documents: Documents):
    with pytest.raises(PreconditionFailed):
        await documents.write(Set("users/ann", {"n": 1}), Update("users/nobody", {"n": 1}))

    assert await documents.get("users/ann") is None


async def test_later_writes_of_a_batch_see_earlier_ones(documents: Documents):
    await documents.write(Create("users/ann", {"n": 1}), Update("users/ann", {"n": Increment(1)}))

    assert await read_fields(documents, "users/ann") == {"n": 2}


async def test_two_hundred_callers_at_once_get_exactly_ten_of_ten_places(documents: Documents):
    limits = HourlyLimits(documents)

    async def take(caller: int) -> int | None:
        return await limits.consume(ANN, "notes", hour=NOON, limit=10, consumer=str(caller))

    remaining_counts = await asyncio.gather(*(take(caller) for caller in range(200)))

    assert sum(remaining is not None for remaining in remaining_counts) == 10


# Queries

ORDERED = {
    "null": None, "false": False, "true": True, "least": -(2**63), "minus": -1.5, "zero": 0,
    "half": 0.5, "one": 1, "big": 2**53, "bigger": 2**53 + 1, "early": NOON - timedelta(days=40000),
    "noon": NOON, "later": NOON + timedelta(microseconds=1), "": "", "upper": "Z", "lower": "a",
    "long": "aa", "nul": "aa\x00", "umlaut": "ä", "wide": "\uffee", "astral": "𐍈",
    "no bytes": b"", "bytes": b"\x00", "more": b"\x01", "list": ["a"],
}  # fmt: skip


async def test_values_sort_by_type_and_then_by_value(documents: Documents):
    values = list(ORDERED.values())
    await store_notes(
        documents, {f"n{n * 7 % 25:02d}": {"v": v, "n": n} for n, v in enumerate(values)}
    )

    up = await documents.query(Query(collection=NOTES, order_by=(Order("v"),)))
    down = await documents.query(Query(collection=NOTES, order_by=(Order("v", "desc"),)))

    assert [document.fields["v"] for document in up] == values
    assert [document.fields["v"] for document in down] == values[::-1]


async def test_an_order_drops_documents_without_the_field(documents: Documents):
    await store_notes(
        documents, {"a": {"rank": 1}, "b": {}, "c": {"rank": None}, "d": {"rank": {"x": 1}}}
    )

    assert await query_ids(documents, order_by=(Order("rank.x"),)) == ["d"]
    assert await query_ids(documents, where=(Where("rank", "==", None),)) == ["c"]


@pytest.mark.parametrize(("direction", "expected"), [("asc", "xabZ"), ("desc", "Zbax")])
async def test_the_id_breaks_ties_in_the_last_direction(
    documents: Documents, direction: Any, expected: str
):
    await store_notes(documents, {"b": {"r": 1}, "a": {"r": 1}, "x": {"r": 0}, "Z": {"r": 2}})

    found_ids = await query_ids(documents, order_by=(Order("r", direction),))

    assert found_ids == list(expected)


async def test_without_an_order_the_id_decides_by_its_bytes(documents: Documents):
    await store_notes(
        documents, {name: {} for name in ("b", "a", "Z", "ä", "10", "9", "𐍈", "\uffee")}
    )

    assert await query_ids(documents) == ["10", "9", "Z", "a", "b", "ä", "\uffee", "𐍈"]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ([Where("rank", "==", 2)], "bc"),
        ([Where("rank", "==", value=True)], "t"),
        ([Where("rank", "in", (1, 3, "2"))], "ads"),
        ([Where("rank", "<", 2)], "a"),
        ([Where("rank", "<=", 2)], "abc"),
        ([Where("rank", ">", 2)], "d"),
        ([Where("rank", ">=", 2.0)], "bcd"),
        ([Where("rank", ">", 1), Where("rank", "<", 3)], "bc"),
        ([Where("rank", ">=", "")], "s"),
        ([Where("kind", "==", "x"), Where("rank", "==", 2)], "b"),
        ([Where("tags", "array_contains", "new")], "ac"),
        ([Where("tags", "array_contains_any", ("old", "new", "none"))], "ac"),
        ([Where("tags", "array_contains_any", ("old",))], "a"),
        ([Where("tags", "array_contains_any", ("none",))], ""),
        ([Where("map.a b", "==", 1)], "d"),
        ([Where("rank", "==", 9)], ""),
    ],
)
async def test_filters_compare_values_of_one_type(
    documents: Documents, where: list[Where], expected: str
):
    await store_notes(
        documents,
        {
            "a": {"rank": 1, "kind": "x", "tags": ["new", "old"]},
            "b": {"rank": 2, "kind": "x", "tags": []},
            "c": {"rank": 2.0, "kind": "y", "tags": ["new"]},
            "d": {"rank": 3, "map": {"a b": 1}},
            "s": {"rank": "2"},
            "t": {"rank": True},
        },
    )

    matching_documents = await documents.query(Query(collection=NOTES, where=tuple(where)))

    assert sorted(document.id for document in matching_documents) == list(expected)
    assert await documents.count(Query(collection=NOTES, where=tuple(where))) == len(expected)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"any_of": (Where("kind", "==", "x"), Where("rank", "==", 2))}, "abc"),
        ({"any_of": (Where("kind", "in", ("x", "z")), Where("rank", "in", (3, 4)))}, "abdf"),
        ({"any_of": (Where("until", "==", None), Where("until", ">", NOON))}, "fcedba"),
        ({"any_of": (Where("until", "==", None), Where("until", ">", NOON)), "limit": 3}, "fce"),
        (
            {
                "where": (Where("kind", "==", "y"),),
                "any_of": (Where("rank", "==", 2), Where("until", "==", None)),
            },
            "cd",
        ),
        ({"any_of": (Where("rank", "==", 9),)}, ""),
    ],
)
async def test_of_alternatives_one_holds_and_each_document_comes_once(
    documents: Documents, query: dict[str, Any], expected: str
):
    await store_notes(
        documents,
        {
            "a": {"kind": "x", "rank": 1, "until": None},
            "b": {"kind": "x", "rank": 2, "until": None},
            "c": {"kind": "y", "rank": 2, "until": NOON + timedelta(days=2)},
            "d": {"kind": "y", "rank": 3, "until": None},
            "e": {"rank": 5, "until": None},
            "f": {"kind": "z", "rank": 4, "until": NOON + timedelta(days=2)},
            "g": {"rank": 0, "until": NOON - timedelta(days=2)},
        },
    )
    by_until = any(where.operator == ">" for where in query["any_of"])
    order = (Order("until", "desc"), Order("rank", "desc")) if by_until else ()

    found = await query_ids(documents, order_by=order, **query)

    assert found == list(expected)
    assert await documents.count(Query(collection=NOTES, order_by=order, **query)) == len(expected)


async def test_pages_together_equal_the_whole_query(documents: Documents):
    await store_notes(
        documents, {f"n{n}": {"kind": "x", "rank": n // 3, "size": -(n % 2)} for n in range(11)}
    )
    for order in (
        (Order("rank", "desc"),),
        (Order("rank"), Order("size", "desc")),
        (),
    ):
        query = Query(collection=NOTES, where=(Where("kind", "==", "x"),), order_by=order)
        all_documents = await documents.query(query)

        paged_documents = await query_pages(documents, query, limit=4)

        assert len(all_documents) == 11
        assert [document.id for document in paged_documents] == [
            document.id for document in all_documents
        ]


async def test_pages_end_where_clients_store_lists_maps_and_long_texts_in_place_of_times(
    documents: Documents,
):
    values = [[1], [1, "a"], ["b"], [], "x" * 1_600, "x" * 1_600 + "y", {"a": 1}, {"b": "\0"}]
    await store_notes(documents, {f"n{n}": {"rank": value} for n, value in enumerate(values)})
    query = Query(collection=NOTES, order_by=(Order("rank", "desc"),))

    paged_documents = await query_pages(documents, query, limit=1)

    lists_and_texts = ["n0", "n1", "n2", "n3", "n4", "n5"]
    assert [d.id for d in paged_documents if d.id in lists_and_texts] == [
        d.id for d in await documents.query(query) if d.id in lists_and_texts
    ]
    assert {*lists_and_texts} <= {d.id for d in paged_documents}


async def query_pages(documents: Documents, query: Query, *, limit: int) -> list[Document]:
    documents_found: list[Document] = []
    start_after = None
    while True:
        page = await documents.query(
            Query(
                collection=query.collection,
                where=query.where,
                order_by=query.order_by,
                limit=limit,
                start_after=start_after,
            )
        )
        documents_found += page
        if len(page) < limit:
            return documents_found
        start_after = build_cursor(page[-1], query)


async def test_a_query_stays_in_its_collection(documents: Documents):
    await store_notes(documents, {"a": {}})
    await documents.write(Set("users/bob/notes/b", {}), Set(f"{NOTES}/a/notes/c", {}))

    assert await query_ids(documents) == ["a"]


async def test_a_query_may_read_only_some_fields(documents: Documents):
    await store_notes(documents, {"a": {"map": {"x": 1, "y": 2}, "n": None, "text": "long"}})

    [document] = await documents.query(
        Query(collection=NOTES, fields=("map.x", "n", "never.there"))
    )

    assert document.fields == {"map": {"x": 1}, "n": None}


async def test_a_count_obeys_the_limit(documents: Documents):
    await store_notes(documents, {"a": {}, "b": {}, "c": {}})

    assert await documents.count(Query(collection=NOTES)) == 3
    assert await documents.count(Query(collection=NOTES, limit=2)) == 2


async def test_a_sum_adds_up_the_documents_that_have_all_fields(documents: Documents):
    await store_notes(
        documents,
        {
            "a": {"rank": 1, "size": {"words": 2, "lines": 1}},
            "b": {"rank": 2, "size": {"words": 40, "lines": 3}},
            "c": {"rank": 3, "size": {"words": 500, "lines": 7}},
            "d": {"rank": 2, "size": {"words": 6}},
            "e": {"rank": 2},
        },
    )
    fields = ["size.words", "size.lines"]
    lower = Query(collection=NOTES, where=(Where("rank", "<", 3),))

    assert await documents.sum(lower, fields) == [42, 4]
    everything = Query(collection=NOTES, where=(Where("rank", ">", 0),))
    assert await documents.sum(everything, fields) == [542, 11]
    nothing = Query(collection=NOTES, where=(Where("rank", ">", 3),))
    assert await documents.sum(nothing, fields) == [0, 0]


# Transactions


async def test_a_transaction_writes_from_what_it_read(documents: Documents):
    await store_notes(documents, {"a": {"n": 1}})

    async def copy(transaction: Transaction) -> int:
        document, missing = await transaction.get_many([f"{NOTES}/a", f"{NOTES}/b"])
        assert document is not None
        assert missing is None
        transaction.write(Create(f"{NOTES}/b", document.fields), Update(document.path, {"n": 2}))
        n: int = document.fields["n"]
        return n

    assert await documents.transaction(copy) == 1
    assert await read_fields(documents, f"{NOTES}/a") == {"n": 2}
    assert await read_fields(documents, f"{NOTES}/b") == {"n": 1}


async def test_a_transaction_that_fails_writes_nothing(documents: Documents):
    async def fail(transaction: Transaction) -> None:
        await transaction.get("users/ann")
        transaction.write(Set("users/ann", {}))
        raise LookupError

    with pytest.raises(LookupError):
        await documents.transaction(fail)

    assert await documents.get("users/ann") is None


async def test_a_transaction_that_creates_what_is_there_writes_nothing(documents: Documents):
    await store_notes(documents, {"a": {"n": 1}})

    async def create(transaction: Transaction) -> None:
        await transaction.get("users/ann")
        transaction.write(Set("users/ann", {}), Create(f"{NOTES}/a", {"n": 2}))

    with pytest.raises(AlreadyExists):
        await documents.transaction(create)

    assert await documents.get("users/ann") is None
    assert await read_fields(documents, f"{NOTES}/a") == {"n": 1}


async def test_a_transaction_reads_before_it_writes(documents: Documents):
    async def read_after_write(transaction: Transaction) -> None:
        transaction.write(Set("users/ann", {}))
        await transaction.get("users/ann")

    with pytest.raises(Invalid, match="reads before it writes"):
        await documents.transaction(read_after_write)

    assert await documents.get("users/ann") is None


async def test_transactions_at_once_lose_no_update(documents: Documents):
    await documents.write(Set("users/ann", {"n": 0}))

    async def add(transaction: Transaction) -> None:
        document = await transaction.get("users/ann")
        assert document is not None
        transaction.write(Update("users/ann", {"n": document.fields["n"] + 1}))

    await asyncio.gather(documents.transaction(add), documents.transaction(add))

    assert await read_fields(documents, "users/ann") == {"n": 2}


# Trees


async def test_delete_tree_deletes_a_document_and_all_below_and_nothing_beside(
    documents: Documents,
):
    tree_paths = ["users/ann", f"{NOTES}/a", f"{NOTES}/a/parts/1", "users/ann/files/f/pages/deep"]
    siblings = ["users/anna", "users/ann.", "users/an", "users/anna/notes/a", "users/ann0/notes/a"]
    await documents.write(*(Set(path, {}) for path in tree_paths + siblings))

    deleted = await documents.delete_tree("users/ann")

    assert deleted == len(tree_paths)
    assert await documents.get_many(tree_paths) == [None] * len(tree_paths)
    assert None not in await documents.get_many(siblings)


async def test_delete_tree_deletes_more_than_one_batch(documents: Documents):
    for start in (0, 300):
        await documents.write(*(Set(f"{NOTES}/{n}", {}) for n in range(start, start + 300)))

    assert await documents.delete_tree("users/ann") == 600
    assert await documents.delete_tree("users/ann") == 0


# Limits

DEEP = {"a": 1}
for _ in range(19):
    DEEP = {"a": DEEP}  # type: ignore[dict-item] # maps in maps


MIXED = {
    "none": None, "yes": True, "n": 1, "half": 0.5, "at": NOON, "raw": b"xx", "umlaut": "ä",
    "empty": {}, "nothing": [], "map": {"k": 1}, "list": [1, "a"],
}  # fmt: skip
MIXED_BYTES = 53 + 1 + 1 + 8 + 8 + 8 + 2 + 3 + 1 + 1 + (2 + 8) + (8 + 2)  # names, then values


def build_fields_of_size(path: str, size_bytes: int) -> dict[str, Any]:
    """Return fields that make a document at `path` exactly `size_bytes` large."""
    name = sum(len(part) + 1 for part in path.split("/")) + 16
    half = 500_000
    return {"a": "x" * half, "b": "x" * (size_bytes - name - 32 - half - 2 * 3)}


@pytest.mark.parametrize(
    "accepted",
    [
        DEEP,
        {"n": -(2**63)},
        build_fields_of_size("users/ann", 1_048_576),
        {"a.b `c": 1},
        {"_": 1},
        {"t": "x" * 1_048_487},
        {**build_fields_of_size("users/ann", 1_048_576 - MIXED_BYTES), **MIXED},
    ],
    ids=["depth", "int", "size", "name", "underscore", "long text", "size of all kinds"],
)
async def test_a_document_just_within_the_limits_is_stored(documents: Documents, accepted: Any):
    await documents.write(Set("users/ann", accepted))

    assert await read_fields(documents, "users/ann") == accepted


@pytest.mark.parametrize(
    "refused",
    [
        {"a": DEEP}, {"n": 2**63}, {"n": -(2**63) - 1}, {"t": datetime(2026, 3, 2)},  # noqa: DTZ001
        {"t": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1)))},
        {"list": [[1]]}, build_fields_of_size("users/ann", 1_048_577),
        {**build_fields_of_size("users/ann", 1_048_577 - MIXED_BYTES), **MIXED},
        {"t": "x" * 1_048_488}, {"b": b"x" * 1_048_488}, {"__x__": 1}, {"": 1}, {"a": {"__x__": 1}},
        {"a" * 1501: 1}, {"o": object()}, {"t": "half \ud800"}, {1: "x"},
    ],
    ids=[
        "depth", "int", "negative int", "naive time", "early time", "nested list", "size", "size of all kinds", "long text",
        "long bytes", "reserved name",
        "empty name", "reserved name below", "long name", "object", "surrogate", "no text name",
    ],
)  # fmt: skip
async def test_a_document_over_a_limit_is_refused(documents: Documents, refused: Any):
    with pytest.raises(Invalid):
        await documents.write(Set("users/ann", refused))

    assert await documents.get("users/ann") is None


@pytest.mark.parametrize(
    "path",
    ["users", "users/ann/notes", "", "users/", "/ann", "users//notes/a", "users/.", "users/..",
     "users/__x__", f"users/{'a' * 1501}", "users/\ud800"],
)  # fmt: skip
async def test_a_path_that_names_no_document_is_refused(documents: Documents, path: str):
    for attempt in (
        documents.get(path),
        documents.write(Set(path, {})),
        documents.delete_tree(path),
    ):
        with pytest.raises(Invalid):
            await attempt


@pytest.mark.parametrize("name", ["a" * 1500, "__x", ".a", "a b", "ä#?%", "__"])
async def test_odd_ids_are_ids(documents: Documents, name: str):
    await documents.write(Set(f"users/{name}", {"n": 1}))

    assert await read_fields(documents, f"users/{name}") == {"n": 1}
    assert await documents.delete_tree(f"users/{name}") == 1


async def test_a_batch_has_at_most_500_writes(documents: Documents):
    await documents.write(*(Set(f"{NOTES}/{n}", {}) for n in range(500)))

    with pytest.raises(Invalid):
        await documents.write(*(Delete(f"{NOTES}/{n}") for n in range(501)))

    assert await documents.count(Query(collection=NOTES)) == 500


async def test_a_batch_has_at_most_seven_million_bytes(documents: Documents):
    large = {"text": "x" * 1_000_000}

    with pytest.raises(Invalid, match="7000000 bytes"):
        await documents.write(*(Set(f"{NOTES}/{n}", large) for n in range(7)))

    assert await documents.count(Query(collection=NOTES)) == 0


async def test_an_update_may_not_grow_a_document_beyond_the_limit(documents: Documents):
    await documents.write(Set("users/ann", build_fields_of_size("users/ann", 1_048_000)))

    with pytest.raises(Invalid):
        await documents.write(Update("users/ann", {"more": "x" * 1000}))


@pytest.mark.parametrize(
    "query",
    [
        {"where": (Where("n", "in", tuple(range(31))),)},
        {"where": (Where("n", "in", ()),)},
        {"where": (Where("n", "in", (1, 2) * 3), Where("m", "in", tuple(range(6))))},
        {"any_of": (Where("n", "in", tuple(range(16))), Where("m", "in", tuple(range(15))))},
        {"where": (Where("n", "in", tuple(range(16))),), "any_of": (Where("m", "==", 1),) * 2},
        {"where": (Where("a", "array_contains", 1), Where("b", "array_contains", 1))},
        {"where": (Where("a", "array_contains", 1), Where("b", "array_contains_any", (1,)))},
        {"where": (Where("n", "array_contains_any", tuple(range(31))),)},
        {"where": (Where("n", "array_contains_any", ()),)},
        {"where": (Where("n", "array_contains_any", "one"),)},
        {"where": (Where("n", ">", None),)},
        {"where": (Where("n", "in", (1, None)),)},
        {"where": (Where("n", "array_contains_any", (1, None)),)},
        {"where": (Where("n", "==", math.nan),)},
        {"where": (Where("n", "in", (1, math.nan)),)},
        {"where": (Where("n", "==", "x" * 1_500),)},
        {"any_of": (Where("n", ">", b"x" * 1_501), Where("n", "==", 1))},
        {"where": (Where("n", "array_contains", "ä" * 750),)},
        {"start_after": ("",)},
        {"where": (Where("n", "==", {"a": 1}),)},
        {"where": (Where("n", ">", datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1)))),)},
        {"limit": 0},
        {"order_by": (Order("n"),), "start_after": (1,)},
        {"where": (Where("n", ">", 1),), "start_after": ("id",)},
    ],
)
async def test_a_query_beyond_the_limits_is_refused(documents: Documents, query: Any):
    with pytest.raises(Invalid):
        await documents.query(Query(collection=NOTES, **query))
    with pytest.raises(Invalid):
        await documents.count(Query(collection=NOTES, **query))


async def test_all_users_are_listed_page_by_page_each_once_d4(documents: Any):
    """Also those who have no document of their own, but some below it."""
    users = ["a", "ann", "ann-2", "ann0", "Bob", "eve"]
    for user in users[1:]:
        await documents.write(Create(f"users/{user}/notes/deep/parts/n", {"text": user}))
    await documents.write(Create("users/a", {"name": "A"}), Create("apps/users", {"name": "x"}))
    await documents.write(Create("users/ann", {"name": "Ann"}))

    pages: list[list[UserId]] = []
    after = None
    while not pages or after:
        page, after = await documents.list_users(2, after=after)
        pages.append(page)

    assert max(map(len, pages)) == 2
    assert sorted(uid for page in pages for uid in page) == sorted(users)


async def test_what_is_due_is_listed_over_all_users_earliest_first_d6(documents: Any):
    for user, minutes in (("bob", 2), ("ann", 1), ("cleo", 3), ("dan", 0), ("eve", 4)):
        due_at = NOON + timedelta(minutes=minutes)
        await documents.write(Create(f"users/{user}/runs/n", {"due_at": due_at, "text": user}))
    await documents.write(
        Create("users/fay/runs/n", {"due_at": None}),
        Create("users/fay/runs/m", {"text": "ended"}),
        Create("users/fay/runs/t", {"due_at": "soon"}),
        Create("users/fay/others/n", {"due_at": NOON}),
    )

    due = await documents.list_due("runs", NOON + timedelta(minutes=3), limit=3)
    all_due = await documents.list_due("runs", NOON + timedelta(minutes=3), limit=9)
    later = await documents.list_due(
        "runs", NOON + timedelta(minutes=4), limit=9, after=NOON + timedelta(minutes=2)
    )

    assert [document.path for document in due] == [
        "users/dan/runs/n",
        "users/ann/runs/n",
        "users/bob/runs/n",
    ]
    assert [document.fields["text"] for document in all_due] == ["dan", "ann", "bob", "cleo"]
    assert [document.fields["text"] for document in later] == ["cleo", "eve"]
    assert all(document.version for document in due)
    assert {*due[0].fields} == {"due_at", "text"}


async def test_what_was_postponed_is_listed_by_its_new_time_d6(documents: Any):
    await documents.write(Create(RUN, {"due_at": NOON, "text": "first"}))
    await documents.write(Update(RUN, {"due_at": NOON + timedelta(hours=1)}))

    early = await documents.list_due("runs", NOON, limit=9)
    late = await documents.list_due("runs", NOON + timedelta(hours=1), limit=9)
    await documents.write(Update(RUN, {"due_at": None}))
    ended = await documents.list_due("runs", NOON + timedelta(hours=1), limit=9)

    assert ([each.path for each in early], [each.path for each in late], ended) == ([], [RUN], [])


async def test_a_list_over_all_users_needs_its_index_d6(database: SqliteDatabase):
    with pytest.raises(Invalid, match="lacks 'due_at' over all 'others'"):
        await SqliteDocuments(database, INDEXES).list_due("others", NOON, limit=1)
