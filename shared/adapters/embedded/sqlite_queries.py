"""Queries as SQL over the sort keys that are stored with each document."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from shared.adapters.embedded.sqlite_keys import (
    build_field_key,
    build_items_key,
    build_next_type_key,
    build_short_key,
    build_sort_key,
)
from shared.adapters.firestore_indexes import compute_effective_order, split_alternatives
from shared.domain.store.documents import (
    ARRAY_OPERATORS,
    LIST_OPERATORS,
    Direction,
    Query,
    Where,
)

Condition = tuple[str, Sequence[Any]]

AFTER_OPERATORS: dict[Direction, str] = {"asc": ">", "desc": "<"}


def build_select(query: Query, columns: str) -> tuple[str, list[Any]]:
    """Return the statement that selects `columns` of the documents of a query, and its values."""
    conditions = list(_build_conditions(query))
    order = ", ".join(f"{expression} {direction}" for expression, direction in _build_order(query))
    sql = (
        f"SELECT {columns} FROM documents"  # noqa: S608 - names are quoted by field_key
        f" WHERE {' AND '.join(sql for sql, _ in conditions)} ORDER BY {order} LIMIT ?"
    )
    values = [value for _, values in conditions for value in values]
    return sql, [*values, -1 if query.limit is None else query.limit]


def build_create_indexes(query: Query) -> list[str]:
    """Return the statements of the indexes that serve a query, as Firestore's own would."""
    return list(filter(None, map(_build_create_index, split_alternatives(query))))


def _build_create_index(query: Query) -> str | None:
    compared_names = sorted(where.field for where in query.where if where.operator in {"==", "in"})
    fields: dict[str, Direction] = dict.fromkeys(compared_names, "asc")
    fields |= {order.field: order.direction for order in compute_effective_order(query)}
    if not fields:
        return None
    title = " ".join(
        ["documents", *(f"{build_field_key(n.split('.'))} {d}" for n, d in fields.items())]
    )
    columns = ", ".join(
        f"{_build_key_expression(name)} {direction}" for name, direction in fields.items()
    )
    presence_condition = " AND ".join(
        f"{_build_key_expression(name)} IS NOT NULL" for name in fields
    )
    return (
        f'CREATE INDEX IF NOT EXISTS "{title}"'
        f" ON documents (collection, {columns}, id {[*fields.values()][-1]}) WHERE {presence_condition}"
    )


def build_select_due(
    collection_name: str, until: datetime, after: datetime | None, limit: int
) -> tuple[str, list[Any]]:
    """Return the statement that selects what is due in all collections of a name, and its values."""
    bound = build_sort_key(until)
    least = build_sort_key(after) if after else bound[0]
    sql = (
        f"SELECT path, version, fields FROM documents WHERE {_DUE} IS NOT NULL"  # noqa: S608 - a constant
        f" AND {_DUE} > ? AND {_DUE} <= ? AND collection GLOB ? ORDER BY {_DUE}, path LIMIT ?"
    )
    return sql, [least, bound, f"*/{collection_name}", limit]


def _build_conditions(query: Query) -> Iterator[Condition]:
    yield "likely(collection = ?)", (query.collection,)
    for where in query.where:
        yield from _build_where(where)
    if query.any_of:
        yield _build_alternatives(query.any_of)
    for order in compute_effective_order(query):
        yield f"{_build_key_expression(order.field)} IS NOT NULL", ()
    if query.start_after is not None:
        yield from _build_cursor_condition(query, query.start_after)


def _build_alternatives(wheres: Sequence[Where]) -> Condition:
    groups = [list(_build_where(where)) for where in wheres]
    sql = " OR ".join(f"({' AND '.join(sql for sql, _ in group)})" for group in groups)
    return f"({sql})", [value for group in groups for _, values in group for value in values]


def _build_where(where: Where) -> Iterator[Condition]:
    key = _build_key_expression(where.field)
    if where.operator in ARRAY_OPERATORS:
        wanted = where.value if where.operator in LIST_OPERATORS else (where.value,)
        marks = ", ".join("?" * len(wanted))
        items = f"json_each(keys, '$.\"{build_items_key(where.field.split('.'))}\"')"
        sql = f"EXISTS (SELECT 1 FROM {items} WHERE value IN ({marks}))"  # noqa: S608
        yield sql, [build_sort_key(value) for value in wanted]
        return
    yield f"{key} IS NOT NULL", ()
    if where.operator == "in":
        marks = ", ".join("?" * len(where.value))
        yield f"{key} IN ({marks})", [build_sort_key(value) for value in where.value]
        return
    bound = build_sort_key(where.value)
    yield f"{key} {'=' if where.operator == '==' else where.operator} ?", (bound,)
    if where.operator != "==":  # a range keeps to the type of its bound
        yield f"{key} >= ? AND {key} < ?", (bound[0], build_next_type_key(bound))


def _build_order(query: Query) -> list[tuple[str, Direction]]:
    """Return the order of a query; the id breaks ties in the last direction."""
    orders = [
        (_build_key_expression(order.field), order.direction)
        for order in compute_effective_order(query)
    ]
    if query.any_of and not orders:
        return [
            ("+id", "asc")
        ]  # the sign keeps SQLite from reading all in this order, instead of seeking
    return [*orders, ("id", orders[-1][1] if orders else "asc")]


def _build_cursor_condition(query: Query, cursor: Sequence[Any]) -> Iterator[Condition]:
    """Compare with a cursor column by column: equal in the earlier ones, after it in one."""
    keys = [*map(build_short_key, cursor[:-1]), cursor[-1]]
    equal_terms: list[str] = []
    branches, values = [], []
    for n, (expression, direction) in enumerate(_build_order(query)):
        branches.append(
            " AND ".join([*equal_terms, f"{expression} {AFTER_OPERATORS[direction]} ?"])
        )
        values += keys[: n + 1]
        equal_terms.append(f"{expression} = ?")
    first, direction = _build_order(query)[0]
    yield f"{first} {AFTER_OPERATORS[direction]}= ?", (keys[0],)  # lets SQLite seek in an index
    yield f"({' OR '.join(branches)})", values


def build_json_path(dotted: str) -> str:
    """Return where SQLite finds a field in the JSON of a document."""
    return "$." + ".".join(json.dumps(name) for name in dotted.split("."))


def _build_key_expression(dotted: str) -> str:
    return f"json_extract(keys, '$.\"{build_field_key(dotted.split('.'))}\"')"


SELECT_USERS = """
SELECT DISTINCT substr(path, 7, instr(substr(path, 7) || '/', '/') - 1) AS uid FROM documents
WHERE path > 'users/' AND path < 'users0' AND uid > ? ORDER BY uid LIMIT ?
"""

_DUE = _build_key_expression("due_at")
CREATE_DUE_INDEX = (
    f"CREATE INDEX IF NOT EXISTS documents_due ON documents ({_DUE}, path) WHERE {_DUE} IS NOT NULL"
)
