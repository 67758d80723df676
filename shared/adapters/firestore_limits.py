"""Firestore limits as pure rules; both document stores check them before they act.

Limits from https://firebase.google.com/docs/firestore/quotas, 2026-05.
"""

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from shared.domain.errors import Invalid
from shared.domain.store.documents import (
    ARRAY_OPERATORS,
    LIST_OPERATORS,
    ArrayUnion,
    Create,
    Delete,
    Fields,
    Increment,
    Query,
    Remove,
    Set,
    Update,
    Where,
    Write,
)

MAX_DOCUMENT_BYTES = 1_048_576
MAX_VALUE_BYTES = 1_048_487
MAX_ID_BYTES = 1_500
MAX_PATH_BYTES = 6_144
MAX_DEPTH = 20
MAX_WRITES = 500
MAX_ALTERNATIVES = 30
MAX_COMPARED_BYTES = 1_500
MAX_BATCH_BYTES = 7_000_000
"""A request has 10 MiB, and values on the wire take up to half as much again."""

RANGE_OPERATORS = frozenset({"<", "<=", ">", ">="})
_SIZES = {type(None): 1, bool: 1, float: 8}
"""Bytes of values of one size, of which each can be stored."""
RESERVED_NAME = re.compile(r"__.*__", re.DOTALL)


def check_document_path(path: str) -> None:
    """Raises Invalid unless `path` alternates collections and ids and ends in an id."""
    _check_path(path, "document")


def check_collection_path(path: str) -> None:
    _check_path(path, "collection")


def _check_path(path: str, kind: str) -> None:
    if (path.count("/") % 2 == 1) is not (kind == "document"):
        raise Invalid(f"This is no {kind} path: {path!r}")
    if _is_plain(path):
        return
    for name in path.split("/"):
        _check_id(name)
    if _count_utf8_bytes(path) > MAX_PATH_BYTES:
        raise Invalid(f"A path has more than {MAX_PATH_BYTES} bytes")


def _is_plain(path: str) -> bool:
    """Tell without a look at each name that none is empty, reserved or too long, as in most paths."""
    is_short = path.isascii() and len(path) <= MAX_ID_BYTES
    slashed = f"/{path}/"
    return is_short and not ("//" in slashed or "/." in slashed or "/_" in slashed)


def _check_id(name: str) -> None:
    if name in {"", ".", ".."} or RESERVED_NAME.fullmatch(name):
        raise Invalid(f"This name is reserved: {name!r}")
    if _count_utf8_bytes(name) > MAX_ID_BYTES:
        raise Invalid(f"An id has more than {MAX_ID_BYTES} bytes")


def check_writes(writes: Sequence[Write]) -> None:
    """Check what can be checked of a batch without reading documents."""
    if len(writes) > MAX_WRITES:
        raise Invalid(f"A batch has at most {MAX_WRITES} writes, this one {len(writes)}")
    size_bytes = sum(_check_write(write) for write in writes)
    if size_bytes > MAX_BATCH_BYTES:
        raise Invalid(f"A batch has at most {MAX_BATCH_BYTES} bytes, this one {size_bytes}")


def _check_write(write: Write) -> int:
    check_document_path(write.path)
    match write:
        case Create(fields=fields) | Set(fields=fields):
            return check_fields(write.path, fields)
        case Update(changes=changes):
            return _check_changes(changes)
        case Delete():
            return 0


def check_fields(path: str, fields: Fields) -> int:
    """Check a whole document: its values, names, depth and size, which it returns in bytes."""
    size_bytes = _measure_path(path) + _measure_map(fields, depth=0)
    if size_bytes > MAX_DOCUMENT_BYTES:
        raise Invalid(f"A document has at most {MAX_DOCUMENT_BYTES} bytes, this one {size_bytes}")
    return size_bytes


def _check_changes(changes: Fields) -> int:
    if not changes:
        raise Invalid("An update names at least one field")
    for path in changes:
        names = path.split(".")
        for n, name in enumerate(names):
            _measure_name(name)
            if n and (whole := ".".join(names[:n])) in changes:
                raise Invalid(f"An update changes {whole!r} and a part of it")
    return sum(map(_measure_change, changes.values()))


def _measure_change(change: Any) -> int:
    match change:
        case Remove():
            return 0
        case Increment(by=by):
            return _measure_value(by, depth=1)
        case ArrayUnion(values=values):
            return _measure_value(values, depth=1)
        case _:
            return _measure_value(change, depth=1)


def check_query(query: Query) -> None:
    """Check the shape of a query, apart from its indexes."""
    check_collection_path(query.collection)
    if query.limit is not None and query.limit < 1:
        raise Invalid(f"A limit is at least 1, this one {query.limit}")
    wheres = (*query.where, *query.any_of)
    for where in wheres:
        _check_where(where)
    if _count_alternatives(query) > MAX_ALTERNATIVES:
        raise Invalid(f"A query has at most {MAX_ALTERNATIVES} alternatives")
    if sum(where.operator in ARRAY_OPERATORS for where in wheres) > 1:
        raise Invalid("A query has at most one `array_contains` or `array_contains_any`")
    if query.start_after is not None and len(query.start_after) != len(query.order_by) + 1:
        raise Invalid("A cursor has a value for each order, and the id")
    if query.start_after is not None:
        _check_id(query.start_after[-1])
    range_fields = {where.field for where in wheres if where.operator in RANGE_OPERATORS}
    if query.start_after is not None and range_fields - {order.field for order in query.order_by}:
        raise Invalid("A query with a cursor orders by the fields of its ranges")


def _count_alternatives(query: Query) -> int:
    return math.prod(map(_count_values, query.where)) * (sum(map(_count_values, query.any_of)) or 1)


def _count_values(where: Where) -> int:
    return len(where.value) if where.operator in LIST_OPERATORS else 1


def _check_where(where: Where) -> None:
    values = where.value if where.operator in LIST_OPERATORS else (where.value,)
    if not isinstance(values, list | tuple) or not values:
        raise Invalid(f"`{where.operator}` wants a list of values for {where.field!r}")
    for value in values:
        if isinstance(value, list | tuple | dict):
            raise Invalid(f"A query compares single values: {where.field!r}")
        if _measure_scalar(value) > MAX_COMPARED_BYTES:
            raise Invalid(f"A query compares at most {MAX_COMPARED_BYTES} bytes: {where.field!r}")
        if (value is None and where.operator != "==") or _is_nan(value):
            raise Invalid(f"Null and NaN have no order and are in no list: {where.field!r}")


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _measure_path(path: str) -> int:
    """Count the bytes of each name and one more, beside those of any document."""
    return 16 + 32 + _count_utf8_bytes(path) + 1


def _measure_map(fields: Fields, *, depth: int) -> int:
    size_bytes = 0
    for name, value in fields.items():  # a sum of a generator would call twice as often
        size_bytes += _measure_name(name) + _measure_value(value, depth=depth + 1)
    return size_bytes


@lru_cache(maxsize=1_000)
def _measure_name(name: Any) -> int:
    """Check a field's name and count its bytes; a list of segments has the same few many times."""
    if not isinstance(name, str) or not name or RESERVED_NAME.fullmatch(name):
        raise Invalid(f"This is no field name: {name!r}")
    size_bytes = _count_utf8_bytes(name)
    if size_bytes > MAX_ID_BYTES:
        raise Invalid(f"A field name has more than {MAX_ID_BYTES} bytes")
    return size_bytes + 1


def _measure_value(value: Any, *, depth: int) -> int:
    """Check a value and count its bytes; `depth` is 1 for the value of a field."""
    if depth > MAX_DEPTH:
        raise Invalid(f"Maps and lists nest at most {MAX_DEPTH} deep")
    if type(value) is str:  # as most are
        return _measure_text(value)
    if (size_bytes := _SIZES.get(type(value))) is not None:
        return size_bytes
    # An empty map or list counts a byte: measured on the emulator.
    if isinstance(value, dict):
        return _measure_map(value, depth=depth) or 1
    if isinstance(value, list | tuple):
        return _measure_list(value, depth=depth) or 1
    return _measure_scalar(value)


def _measure_list(values: Sequence[Any], *, depth: int) -> int:
    size_bytes = 0
    for value in values:
        if isinstance(value, list | tuple):
            raise Invalid("A list holds no lists")
        size_bytes += _measure_value(value, depth=depth + 1)
    return size_bytes


def _measure_scalar(value: Any) -> int:
    if isinstance(value, str):
        return _measure_text(value)
    if (size_bytes := _SIZES.get(type(value))) is not None:
        return size_bytes
    if isinstance(value, bytes):
        return _check_size(len(value))
    _check_number_or_time(value)
    return 8


def _measure_text(text: str) -> int:
    return _check_size(_count_utf8_bytes(text)) + 1


def _check_size(size_bytes: int) -> int:
    if size_bytes > MAX_VALUE_BYTES:
        raise Invalid(f"A value has at most {MAX_VALUE_BYTES} bytes, this one {size_bytes}")
    return size_bytes


def _check_number_or_time(value: Any) -> None:
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise Invalid("A whole number has at most 64 bits")
    elif isinstance(value, datetime):
        _check_time(value)
    elif not isinstance(value, float):
        raise Invalid(f"This cannot be stored: {type(value).__name__}")


def _check_time(value: datetime) -> None:
    if value.tzinfo is None:
        raise Invalid("A time has a time zone")
    try:
        value.astimezone(UTC)
    except OverflowError as error:
        raise Invalid("A time lies in the years 1 to 9999 of UTC") from error


def _count_utf8_bytes(text: str) -> int:
    if text.isascii():  # as most is
        return len(text)
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise Invalid("A text holds half a character") from error
