"""Which query shapes need a composite index: https://firebase.google.com/docs/firestore/query-data/indexing."""

import json
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.domain.documents import Order, Query, Where
from shared.domain.errors import Invalid

NONE: dict[str, Any] = {"indexes": [], "fieldOverrides": []}


def read(tmp_path: Path, table: dict[str, Any]) -> FirestoreIndexes:
    path = tmp_path / "firestore.indexes.json"
    path.write_text(json.dumps(table))
    return FirestoreIndexes.read(path)


def composite(*fields: dict[str, str]) -> dict[str, Any]:
    entry = {"collectionGroup": "notes", "queryScope": "COLLECTION", "fields": list(fields)}
    return {"indexes": [entry], "fieldOverrides": []}


def notes(*where: Where, order: tuple[Order, ...] = ()) -> Query:
    return Query(collection="users/ann/notes", where=where, order_by=order)


UP = {"fieldPath": "rank", "order": "ASCENDING"}
DOWN = {"fieldPath": "rank", "order": "DESCENDING"}
KIND = {"fieldPath": "kind", "order": "ASCENDING"}
SIZE = {"fieldPath": "size", "order": "ASCENDING"}
TAGS = {"fieldPath": "tags", "arrayConfig": "CONTAINS"}
BY_RANK = (Order("rank"),)


@pytest.mark.parametrize(
    "query",
    [
        notes(),
        notes(Where("kind", "==", "x"), Where("size", "in", (1, 2))),
        notes(Where("tags", "array_contains", "new")),
        notes(order=(Order("rank", "desc"),)),
        notes(Where("rank", ">", 1), Where("rank", "<", 9), order=BY_RANK),
        notes(Where("rank", ">", 1)),
        notes(Where("rank", "==", 1), order=BY_RANK),
        notes(Where("rank", "in", (1, 2)), order=BY_RANK),
    ],
)
def test_single_fields_are_served_by_themselves(tmp_path: Path, query: Query):
    indexes = read(tmp_path, NONE)

    indexes.check(query)

    assert not indexes.used


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        (notes(Where("kind", "==", "x"), order=BY_RANK), [KIND, UP]),
        (notes(Where("kind", "==", "x"), order=(Order("rank", "desc"),)), [KIND, DOWN]),
        (notes(Where("kind", "in", ("x", "y")), order=BY_RANK), [KIND, UP]),
        (notes(Where("kind", "==", "x"), Where("rank", ">", 1)), [KIND, UP]),
        (notes(Where("rank", ">", 1), Where("size", ">", 1)), [UP, SIZE]),
        (notes(order=(*BY_RANK, Order("size"))), [UP, SIZE]),
        (notes(Where("tags", "array_contains", "x"), order=BY_RANK), [TAGS, UP]),
        (notes(Where("tags", "array_contains", "x"), Where("kind", "==", "x")), [KIND, TAGS]),
        (
            notes(Where("size", "==", 1), Where("kind", "==", "x"), order=BY_RANK),
            [KIND, SIZE, UP],
        ),
    ],
)
def test_what_mixes_them_is_refused_until_the_index_is_added_that_the_refusal_names(
    tmp_path: Path, query: Query, fields: list[dict[str, str]]
):
    with pytest.raises(Invalid) as refusal:
        read(tmp_path, NONE).check(query)
    named = json.loads(str(refusal.value).partition("lacks ")[2])

    indexes = read(tmp_path, {"indexes": [named], "fieldOverrides": []})
    indexes.check(query)

    assert named["fields"] == fields
    assert indexes.used == set(indexes.composite)


@pytest.mark.parametrize(
    "fields",
    [[KIND, DOWN], [UP, KIND], [KIND, UP, SIZE], [KIND], [SIZE, UP], [{**TAGS, "fieldPath": "kind"}, UP]],
)  # fmt: skip
def test_an_index_of_another_shape_does_not_serve(tmp_path: Path, fields: list[dict[str, str]]):
    with pytest.raises(Invalid):
        read(tmp_path, composite(*fields)).check(notes(Where("kind", "==", "x"), order=BY_RANK))


def test_equalities_read_an_index_in_any_order_and_direction(tmp_path: Path):
    query = notes(Where("kind", "==", "x"), Where("size", "==", 1), order=BY_RANK)

    read(tmp_path, composite({**SIZE, "order": "DESCENDING"}, KIND, UP)).check(query)


def test_an_index_serves_only_its_own_collections(tmp_path: Path):
    query = Query(
        collection="users/ann/others", where=(Where("kind", "==", "x"),), order_by=BY_RANK
    )

    with pytest.raises(Invalid, match="others"):
        read(tmp_path, composite(KIND, UP)).check(query)


@pytest.mark.parametrize("field", ["body", "body.part"])
def test_a_field_without_an_index_cannot_be_asked_for(tmp_path: Path, field: str):
    override = {"collectionGroup": "notes", "fieldPath": "body", "indexes": []}
    indexes = read(tmp_path, {"indexes": [], "fieldOverrides": [override]})

    with pytest.raises(Invalid, match="not indexed"):
        indexes.check(notes(Where(field, "==", "x")))
    with pytest.raises(Invalid, match="not indexed"):
        indexes.check(notes(order=(Order(field),)))
    indexes.check(notes(Where("bodyguard", "==", "x")))
