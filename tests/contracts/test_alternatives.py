"""Alternatives of queries: the embedded store refuses, finds and orders what Firestore's emulator does."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.domain.errors import Invalid
from shared.domain.store.documents import (
    ARRAY_OPERATORS,
    LIST_OPERATORS,
    Direction,
    Operator,
    Order,
    Query,
    Set,
    Where,
    build_cursor,
)
from shared.ports import Documents

pytestmark = pytest.mark.emulators

NOTES = "users/ann/notes"
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
LONG = "x" * 1_499
VALUES = (
    None, False, True, -1.5, 0, 1, 2, 2.0, float("inf"), NOON, NOON + timedelta(hours=1),
    "", "a", "b", "a\0b", LONG, LONG + "y", "ä" * 800, b"x",
)  # fmt: skip
FIELDS = ("a", "b", "c", "map.x")
OPERATORS: tuple[Operator, ...] = (
    "==", "==", "in", "in", "<", "<=", ">", ">=", "array_contains", "array_contains_any",
)  # fmt: skip
DIRECTIONS: tuple[Direction, ...] = ("asc", "desc")


class AllIndexes(FirestoreIndexes):
    """Serves every query, as the emulator does."""

    def check(self, query: Query) -> None:
        """Refuse nothing."""


def choose_fields(random: Random) -> dict[str, Any]:
    fields: dict[str, Any] = {
        name: random.choice(VALUES) for name in "abc" if random.random() < 0.8
    }
    if random.random() < 0.7:
        fields["map"] = {"x": random.choice(VALUES)}
    if random.random() < 0.7:
        fields["list"] = random.choices(VALUES, k=random.randint(0, 3))
    return fields


def choose_where(random: Random) -> Where:
    operator = random.choice(OPERATORS)
    field = "list" if operator in ARRAY_OPERATORS else random.choice(FIELDS)
    values = random.choices(VALUES, k=random.randint(1, 3))
    return Where(field, operator, tuple(values) if operator in LIST_OPERATORS else values[0])


def choose_query(random: Random) -> Query:
    ordered_fields = random.sample(FIELDS, random.choice((0, 0, 1, 1, 2)))
    return Query(
        collection=NOTES,
        where=tuple(choose_where(random) for _ in range(random.choice((0, 0, 1, 2)))),
        any_of=tuple(choose_where(random) for _ in range(random.choice((1, 2, 2, 3)))),
        order_by=tuple(Order(name, random.choice(DIRECTIONS)) for name in ordered_fields),
        limit=random.choice((None, None, 3, 5)),
    )


async def ask(documents: Documents, query: Query) -> list[str] | None:
    """Return the ids of what is found, None where the query is refused."""
    try:
        found = await documents.query(query)
    except Invalid:
        return None
    return [document.id for document in found]


async def begin_after_first(documents: Documents, query: Query) -> Query:
    first, *_ = await documents.query(query)
    return replace(query, start_after=build_cursor(first, query))


@pytest.mark.parametrize("seed", range(4))
async def test_both_stores_answer_alternatives_alike(
    database: SqliteDatabase, firestore_documents: Documents, seed: int
) -> None:
    random, embedded = Random(seed), SqliteDocuments(database, AllIndexes())  # noqa: S311 - no secret
    notes = [Set(f"{NOTES}/n{n:02}", choose_fields(random)) for n in range(25)]
    for documents in (embedded, firestore_documents):
        await documents.write(*notes)
    answers = []

    for _ in range(150):
        query = choose_query(random)
        answers.append(await ask(embedded, query))
        assert answers[-1] == await ask(firestore_documents, query), query
        if answers[-1]:
            query = await begin_after_first(embedded, query)
            assert await ask(embedded, query) == await ask(firestore_documents, query), query

    assert sum(bool(found) for found in answers) > 30
    assert answers.count(None) > 20
