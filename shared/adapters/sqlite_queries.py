"""A Query as SQL over the sort keys that stand beside each document."""

from collections.abc import Iterator, Sequence
from typing import Any

from shared.adapters.firestore_indexes import effective_order
from shared.adapters.sqlite_keys import field_key, items_key, next_type, sort_key
from shared.domain.documents import Direction, Query, Where

Condition = tuple[str, Sequence[Any]]

AFTER: dict[Direction, str] = {"asc": ">", "desc": "<"}


def select(query: Query, columns: str) -> tuple[str, list[Any]]:
    """Return the statement that selects `columns` of the documents of a query, and its values."""
    conditions = list(_conditions(query))
    order = ", ".join(f"{expression} {direction}" for expression, direction in _order(query))
    sql = (
        f"SELECT {columns} FROM documents"  # noqa: S608 - names are quoted by field_key
        f" WHERE {' AND '.join(sql for sql, _ in conditions)} ORDER BY {order} LIMIT ?"
    )
    values = [value for _, values in conditions for value in values]
    return sql, [*values, -1 if query.limit is None else query.limit]


def create_index(query: Query) -> str | None:
    """Return the statement for the index that lets SQLite seek, as Firestore's own would."""
    compared = sorted(where.field for where in query.where if where.operator in {"==", "in"})
    fields: dict[str, Direction] = dict.fromkeys(compared, "asc")
    fields |= {order.field: order.direction for order in effective_order(query)}
    if not fields:
        return None
    title = " ".join(["documents", *(f"{field_key(n.split('.'))} {d}" for n, d in fields.items())])
    columns = ", ".join(f"{_key(name)} {direction}" for name, direction in fields.items())
    there = " AND ".join(f"{_key(name)} IS NOT NULL" for name in fields)
    return (
        f'CREATE INDEX IF NOT EXISTS "{title}"'
        f" ON documents (collection, {columns}, id {[*fields.values()][-1]}) WHERE {there}"
    )


def _conditions(query: Query) -> Iterator[Condition]:
    yield "collection = ?", (query.collection,)
    for where in query.where:
        yield from _where(where)
    for order in effective_order(query):
        yield f"{_key(order.field)} IS NOT NULL", ()
    if query.start_after is not None:
        yield from _after(query, query.start_after)


def _where(where: Where) -> Iterator[Condition]:
    key = _key(where.field)
    if where.operator == "array_contains":
        items = f"json_each(keys, '$.\"{items_key(where.field.split('.'))}\"')"
        yield f"? IN (SELECT value FROM {items})", (sort_key(where.value),)  # noqa: S608
        return
    yield f"{key} IS NOT NULL", ()
    if where.operator == "in":
        marks = ", ".join("?" * len(where.value))
        yield f"{key} IN ({marks})", [sort_key(value) for value in where.value]
        return
    bound = sort_key(where.value)
    yield f"{key} {'=' if where.operator == '==' else where.operator} ?", (bound,)
    if where.operator != "==":  # a range keeps to the type of its bound
        yield f"{key} >= ? AND {key} < ?", (bound[0], next_type(bound))


def _order(query: Query) -> list[tuple[str, Direction]]:
    """Return what documents are ordered by; the id breaks ties in the last direction."""
    orders = [(_key(order.field), order.direction) for order in effective_order(query)]
    return [*orders, ("id", orders[-1][1] if orders else "asc")]


def _after(query: Query, cursor: Sequence[Any]) -> Iterator[Condition]:
    """Compare with a cursor column by column: ahead in one, level in those before."""
    keys = [*(sort_key(value) for value in cursor[:-1]), cursor[-1]]
    level: list[str] = []
    ahead, values = [], []
    for n, (expression, direction) in enumerate(_order(query)):
        ahead.append(" AND ".join([*level, f"{expression} {AFTER[direction]} ?"]))
        values += keys[: n + 1]
        level.append(f"{expression} = ?")
    first, direction = _order(query)[0]
    yield f"{first} {AFTER[direction]}= ?", (keys[0],)  # lets SQLite seek in an index
    yield f"({' OR '.join(ahead)})", values


def _key(dotted: str) -> str:
    return f"json_extract(keys, '$.\"{field_key(dotted.split('.'))}\"')"
