"""Pinecone rules: what a row may be and what a filter means, for the stand-ins of Pinecone."""

import json
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from shared.domain.errors import Invalid
from shared.domain.store.vectors import Filter, MetadataValue, Row

MAX_TERMS = 1_000
MAX_ID_CHARS = 512
MAX_METADATA_BYTES = 40_960
MAX_INDEX = 2**32 - 1
MAX_DIMENSIONS = 20_000
Metadata = Mapping[str, MetadataValue]
Condition = Callable[[Metadata], bool]


def check_row(row: Row) -> None:
    """Raises Invalid for a row that Pinecone would refuse."""
    indices, values = row.sparse.indices, row.sparse.values
    if not 1 <= len(row.id) <= MAX_ID_CHARS or not row.id.isascii():
        raise Invalid(f"A row id has 1 to {MAX_ID_CHARS} ASCII characters")
    if not 1 <= len(indices) <= MAX_TERMS or len(indices) != len(values):
        raise Invalid(f"A row has 1 to {MAX_TERMS} terms, each with its weight")
    if len(set(indices)) != len(indices) or not 0 <= min(indices) <= max(indices) <= MAX_INDEX:
        raise Invalid("Terms are different uint32 numbers")
    if len(json.dumps(row.metadata, ensure_ascii=False).encode()) > MAX_METADATA_BYTES:
        raise Invalid(f"The metadata of a row has at most {MAX_METADATA_BYTES} bytes")
    if not all(_is_flat(value) for value in row.metadata.values()):
        raise Invalid("Metadata values are strings, numbers, booleans and lists of strings")
    if row.dense is not None:
        check_dense(row.dense)


def check_dense(vector: Sequence[float]) -> None:
    """Raises Invalid for a vector without a cosine."""
    if not 1 <= len(vector) <= MAX_DIMENSIONS or not all(map(math.isfinite, vector)):
        raise Invalid(f"A dense vector has 1 to {MAX_DIMENSIONS} finite numbers")
    if not any(vector):
        raise Invalid("A dense vector has a number other than zero")


def _is_flat(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str | int | float)


def build_filter(where: Filter) -> Condition:
    """Return the test of all conditions of a filter. Raises Invalid for unknown operators."""
    return _require_all([_build_condition(name, wanted) for name, wanted in where.items()])


def _build_condition(name: str, wanted: Any) -> Condition:
    if name == "$and":
        return _require_all([build_filter(part) for part in wanted])
    if name == "$or":
        alternatives = [build_filter(part) for part in wanted]
        return lambda metadata: any(is_met(metadata) for is_met in alternatives)
    operands = wanted if isinstance(wanted, Mapping) else {"$eq": wanted}
    return _require_all([_build_comparison(name, *operand) for operand in operands.items()])


def _require_all(conditions: Sequence[Condition]) -> Condition:
    if len(conditions) == 1:
        return conditions[0]
    return lambda metadata: all(is_met(metadata) for is_met in conditions)


def _build_comparison(name: str, sign: str, operand: Any) -> Condition:
    if sign in _ORDER_OPERATORS:
        return _build_order(name, _ORDER_OPERATORS[sign], operand)
    if sign not in _EQUALITY_OPERATORS:
        raise Invalid(f"There is no filter operator {sign!r}")
    values = frozenset(operand if sign in ("$in", "$nin") else [operand])
    excludes = sign in ("$ne", "$nin")
    return lambda metadata: values.isdisjoint(_list_values(metadata.get(name))) is excludes


def _build_order(name: str, is_in_order: Callable[[Any, float], bool], bound: Any) -> Condition:
    if not _is_number(bound):
        raise Invalid("Only numbers are greater or less")
    return lambda metadata: _is_number(metadata.get(name)) and is_in_order(metadata[name], bound)


def _list_values(stored: MetadataValue | None) -> list[Any]:
    return stored if isinstance(stored, list) else [stored]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_ORDER_OPERATORS: Mapping[str, Callable[[Any, float], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_EQUALITY_OPERATORS = {"$eq", "$ne", "$in", "$nin"}
