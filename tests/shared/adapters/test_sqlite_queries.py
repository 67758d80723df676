"""SQLite seeks where Firestore would: no query reads a whole collection to sort it."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from shared.adapters.embedded.sqlite_documents import SCHEMA
from shared.adapters.embedded.sqlite_queries import build_create_indexes, build_select
from shared.domain.store.documents import Order, Query, Where

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
NEWEST = Query(
    collection="users/ann/messages",
    where=(Where("session_id", "==", "main"),),
    order_by=(Order("created_at", "desc"),),
    limit=20,
)


@pytest.mark.parametrize(
    ("query", "seeks"),
    [
        (NEWEST, "<expr>=?"),
        (replace(NEWEST, start_after=(NOON, "m1")), "<expr>=? AND <expr><?"),
        (replace(NEWEST, where=()), "collection=?"),
        (replace(NEWEST, where=(), start_after=(NOON, "m1")), "<expr><?"),
        (replace(NEWEST, where=(Where("created_at", ">", NOON),)), "<expr>>?"),
        (replace(NEWEST, order_by=()), "<expr>=?"),
        (replace(NEWEST, where=(), order_by=()), "collection=?"),
    ],
)
def test_a_query_reads_an_index_in_order(query: Query, seeks: str):
    plan = explain(query)

    assert len(plan) == 1, plan
    assert "USING INDEX" in plan[0]
    assert seeks in plan[0]


def test_alternatives_seek_each_in_its_index():
    either = (Where("session_id", "==", "main"), Where("reply_to", "in", ("m1", "m2")))
    query = replace(NEWEST, where=(), any_of=either, order_by=())

    plan = explain(query)

    assert sum("SEARCH documents USING INDEX" in step for step in plan) == 2, plan
    assert all("collection=? AND <expr>=?" in step for step in plan if "SEARCH" in step), plan


def test_ordered_alternatives_read_an_index_in_order():
    either = (Where("read_at", "==", None), Where("read_at", ">", NOON))
    order = (Order("read_at", "desc"), Order("created_at", "desc"))

    [step] = explain(replace(NEWEST, where=(), any_of=either, order_by=order))

    assert "USING INDEX documents read_at desc created_at desc" in step


def explain(query: Query) -> list[str]:
    """Return the steps by which SQLite answers a query, with the indexes that it needs."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript("; ".join([SCHEMA, *build_create_indexes(query)]))
        sql, values = build_select(query, "path, version, fields")
        return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]


@pytest.mark.parametrize("name", ["it's", 'a"b', "x') OR 1=1 --", "ä b", "a[]"])
def test_a_field_name_cannot_leave_its_place_in_the_statement(name: str):
    query = replace(NEWEST, where=(Where(name, "==", 1),))
    connection = sqlite3.connect(":memory:")
    connection.executescript("; ".join([SCHEMA, *build_create_indexes(query)]))

    assert connection.execute(*build_select(query, "path")).fetchall() == []
    connection.close()
