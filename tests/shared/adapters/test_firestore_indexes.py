"""Query shapes that need a composite index: https://firebase.google.com/docs/firestore/query-data/indexing."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.firestore_indexes import FirestoreIndexes, find_shape
from shared.domain.errors import Invalid
from shared.domain.store.documents import Order, Query, Where

NO_INDEXES: dict[str, Any] = {"indexes": [], "fieldOverrides": []}


def read_indexes(tmp_path: Path, table: dict[str, Any]) -> FirestoreIndexes:
    path = tmp_path / "firestore.indexes.json"
    path.write_text(json.dumps(table))
    return FirestoreIndexes.read(path)


def build_table(*fields: dict[str, str]) -> dict[str, Any]:
    entry = {"collectionGroup": "notes", "queryScope": "COLLECTION", "fields": list(fields)}
    return {"indexes": [entry], "fieldOverrides": []}


def query_notes(*where: Where, order: tuple[Order, ...] = ()) -> Query:
    return Query(collection="users/ann/notes", where=where, order_by=order)


RANK_ASCENDING = {"fieldPath": "rank", "order": "ASCENDING"}
RANK_DESCENDING = {"fieldPath": "rank", "order": "DESCENDING"}
KIND = {"fieldPath": "kind", "order": "ASCENDING"}
SIZE = {"fieldPath": "size", "order": "ASCENDING"}
TAGS = {"fieldPath": "tags", "arrayConfig": "CONTAINS"}
BY_RANK = (Order("rank"),)


@pytest.mark.parametrize(
    "query",
    [
        query_notes(),
        query_notes(Where("kind", "==", "x"), Where("size", "in", (1, 2))),
        query_notes(Where("tags", "array_contains", "new")),
        query_notes(Where("tags", "array_contains_any", ("new", "old"))),
        query_notes(order=(Order("rank", "desc"),)),
        query_notes(Where("rank", ">", 1), Where("rank", "<", 9), order=BY_RANK),
        query_notes(Where("rank", ">", 1)),
        query_notes(Where("rank", "==", 1), order=BY_RANK),
        query_notes(Where("rank", "in", (1, 2)), order=BY_RANK),
    ],
)
def test_single_field_queries_need_no_composite_index(tmp_path: Path, query: Query):
    indexes = read_indexes(tmp_path, NO_INDEXES)

    indexes.check(query)

    assert not indexes.used_indexes


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        (query_notes(Where("kind", "==", "x"), order=BY_RANK), [KIND, RANK_ASCENDING]),
        (
            query_notes(Where("kind", "==", "x"), order=(Order("rank", "desc"),)),
            [KIND, RANK_DESCENDING],
        ),
        (query_notes(Where("kind", "in", ("x", "y")), order=BY_RANK), [KIND, RANK_ASCENDING]),
        (query_notes(Where("kind", "==", "x"), Where("rank", ">", 1)), [KIND, RANK_ASCENDING]),
        (query_notes(Where("rank", ">", 1), Where("size", ">", 1)), [RANK_ASCENDING, SIZE]),
        (query_notes(order=(*BY_RANK, Order("size"))), [RANK_ASCENDING, SIZE]),
        (query_notes(Where("tags", "array_contains", "x"), order=BY_RANK), [TAGS, RANK_ASCENDING]),
        (
            query_notes(Where("tags", "array_contains_any", ("x",)), order=BY_RANK),
            [TAGS, RANK_ASCENDING],
        ),
        (query_notes(Where("tags", "array_contains", "x"), Where("kind", "==", "x")), [KIND, TAGS]),
        (
            query_notes(Where("size", "==", 1), Where("kind", "==", "x"), order=BY_RANK),
            [KIND, SIZE, RANK_ASCENDING],
        ),
    ],
)
def test_a_combined_query_is_refused_until_the_suggested_index_is_added(
    tmp_path: Path, query: Query, fields: list[dict[str, str]]
):
    with pytest.raises(Invalid) as refusal:
        read_indexes(tmp_path, NO_INDEXES).check(query)
    suggested_index = json.loads(str(refusal.value).partition("lacks ")[2])

    indexes = read_indexes(tmp_path, {"indexes": [suggested_index], "fieldOverrides": []})
    indexes.check(query)

    assert suggested_index["fields"] == fields
    assert indexes.used_indexes == set(indexes.composite)


@pytest.mark.parametrize(
    "fields",
    [[KIND, RANK_DESCENDING], [RANK_ASCENDING, KIND], [KIND, RANK_ASCENDING, SIZE], [KIND], [SIZE, RANK_ASCENDING], [{**TAGS, "fieldPath": "kind"}, RANK_ASCENDING]],
)  # fmt: skip
def test_an_index_of_another_shape_does_not_serve(tmp_path: Path, fields: list[dict[str, str]]):
    with pytest.raises(Invalid):
        read_indexes(tmp_path, build_table(*fields)).check(
            query_notes(Where("kind", "==", "x"), order=BY_RANK)
        )


def test_each_alternative_needs_an_index_in_the_order_of_the_whole(tmp_path: Path):
    is_open_or_later = (Where("rank", "==", None), Where("rank", ">", 1))
    order = (Order("rank", "desc"), Order("size", "desc"))
    query = replace(query_notes(order=order), any_of=is_open_or_later)
    table = build_table(RANK_DESCENDING, {**SIZE, "order": "DESCENDING"})
    indexes = read_indexes(tmp_path, table)

    indexes.check(query)

    assert indexes.used_indexes == set(indexes.composite)
    with pytest.raises(Invalid):
        read_indexes(tmp_path, build_table(RANK_ASCENDING, SIZE)).check(query)


def test_alternatives_of_two_fields_need_the_index_of_each(tmp_path: Path):
    query = replace(query_notes(), any_of=(Where("kind", "==", "x"), Where("size", "in", (1, 2))))
    overrides = [
        {"collectionGroup": "notes", "fieldPath": "*", "indexes": []},
        {
            "collectionGroup": "notes",
            "fieldPath": "kind",
            "indexes": [{"order": "ASCENDING", "queryScope": "COLLECTION"}],
        },
    ]

    with pytest.raises(Invalid, match="size"):
        read_indexes(tmp_path, {"indexes": [], "fieldOverrides": overrides}).check(query)


def test_equalities_read_an_index_in_any_order_and_direction(tmp_path: Path):
    query = query_notes(Where("kind", "==", "x"), Where("size", "==", 1), order=BY_RANK)

    table = build_table({**SIZE, "order": "DESCENDING"}, KIND, RANK_ASCENDING)
    indexes = read_indexes(tmp_path, table)

    indexes.check(query)

    assert indexes.used_indexes == set(indexes.composite)


def test_an_index_serves_only_its_own_collections(tmp_path: Path):
    query = Query(
        collection="users/ann/others", where=(Where("kind", "==", "x"),), order_by=BY_RANK
    )

    with pytest.raises(Invalid, match="others"):
        read_indexes(tmp_path, build_table(KIND, RANK_ASCENDING)).check(query)


@pytest.mark.parametrize("field", ["body", "body.part"])
def test_a_field_without_an_index_cannot_be_queried(tmp_path: Path, field: str):
    override = {"collectionGroup": "notes", "fieldPath": "body", "indexes": []}
    indexes = read_indexes(tmp_path, {"indexes": [], "fieldOverrides": [override]})

    with pytest.raises(Invalid, match="not indexed"):
        indexes.check(query_notes(Where(field, "==", "x")))
    with pytest.raises(Invalid, match="not indexed"):
        indexes.check(query_notes(order=(Order(field),)))
    indexes.check(query_notes(Where("bodyguard", "==", "x")))


@pytest.mark.parametrize(
    ("query", "needed"),
    [
        (query_notes(Where("kind", "==", "x")), [KIND]),
        (query_notes(Where("kind", "in", ("x", "y"))), [KIND]),
        (query_notes(Where("kind", "==", "x"), Where("size", "==", 1)), [KIND, SIZE]),
        (query_notes(Where("kind", "==", "x"), order=(Order("kind", "desc"),)), [KIND]),
        (query_notes(order=BY_RANK), [RANK_ASCENDING]),
        (query_notes(order=(Order("rank", "desc"),)), [RANK_DESCENDING]),
        (query_notes(Where("rank", ">", 1)), [RANK_ASCENDING]),
        (query_notes(Where("rank", ">", 1), order=(Order("rank", "desc"),)), [RANK_DESCENDING]),
        (query_notes(Where("tags", "array_contains", "x")), [TAGS]),
    ],
)
def test_without_automatic_indexes_each_field_that_is_asked_for_is_listed(
    tmp_path: Path, query: Query, needed: list[dict[str, str]]
):
    suggested: list[dict[str, Any]] = []
    for _ in needed:
        with pytest.raises(Invalid) as refusal:
            read_indexes(tmp_path, list_alone(*suggested)).check(query)
        suggested.append(json.loads(str(refusal.value).partition("lacks ")[2]))
    indexes = read_indexes(tmp_path, list_alone(*suggested))

    indexes.check(query)

    assert suggested == [build_override(field) for field in needed]
    assert indexes.used_indexes == indexes.single


def test_without_automatic_indexes_a_composite_one_needs_no_other(tmp_path: Path):
    table = build_table(KIND, RANK_ASCENDING)
    indexes = read_indexes(tmp_path, {**table, "fieldOverrides": [WITHOUT_AUTOMATIC]})

    indexes.check(query_notes(Where("kind", "==", "x"), order=BY_RANK))
    indexes.check(query_notes())

    assert indexes.used_indexes == set(indexes.composite)


WITHOUT_AUTOMATIC = {"collectionGroup": "notes", "fieldPath": "*", "indexes": []}


def list_alone(*overrides: dict[str, Any]) -> dict[str, Any]:
    return {"indexes": [], "fieldOverrides": [WITHOUT_AUTOMATIC, *overrides]}


def build_override(field: dict[str, str]) -> dict[str, Any]:
    shape = {name: mode for name, mode in field.items() if name != "fieldPath"}
    return {
        "collectionGroup": "notes",
        "fieldPath": field["fieldPath"],
        "indexes": [{**shape, "queryScope": "COLLECTION"}],
    }


def test_the_shape_of_a_query_is_all_of_it_but_its_values():
    query = query_notes(Where("kind", "==", "x"), order=BY_RANK)
    same = replace(
        query,
        collection="users/bob/notes",
        where=(Where("kind", "==", "y"),),
        limit=3,
        start_after=(1, "n"),
    )
    others = [
        replace(query, collection="users/ann/tasks"),
        replace(query, where=(Where("size", "==", "x"),)),
        replace(query, where=(Where("kind", ">", "x"),)),
        replace(query, where=(), any_of=query.where),
        replace(query, order_by=(Order("rank", "desc"),)),
    ]

    assert find_shape(same) == find_shape(query)
    assert len({find_shape(each) for each in (query, *others)}) == 1 + len(others)
