"""Pinecone rules: what a row may be and what a filter means, for the stand-ins of Pinecone."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from shared.domain.errors import Invalid
from shared.domain.vectors import Filter, MetadataValue, Row

MAX_TERMS = 1_000
MAX_ID_CHARS = 512
MAX_METADATA_BYTES = 40_960
MAX_INDEX = 2**32 - 1
MAX_DIMENSIONS = 20_000
Metadata = Mapping[str, MetadataValue]


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


def matches(where: Filter, metadata: Metadata) -> bool:
    """Apply a filter; all its conditions must hold. Raises Invalid for unknown operators."""
    return all(_is_condition_met(name, condition, metadata) for name, condition in where.items())


def _is_condition_met(name: str, condition: Any, metadata: Metadata) -> bool:
    if name == "$and":
        return all(matches(part, metadata) for part in condition)
    if name == "$or":
        return any(matches(part, metadata) for part in condition)
    conditions = condition if isinstance(condition, Mapping) else {"$eq": condition}
    return all(_compare(op, metadata.get(name), value) for op, value in conditions.items())


def _compare(operator: str, stored_value: Any, operand: Any) -> bool:
    if operator in _ORDER_OPERATORS:
        return _is_number(stored_value) and _ORDER_OPERATORS[operator](
            stored_value, _require_number(operand)
        )
    if operator not in _EQUALITY_OPERATORS:
        raise Invalid(f"There is no filter operator {operator!r}")
    stored_values = stored_value if isinstance(stored_value, list) else [stored_value]
    return _EQUALITY_OPERATORS[operator](stored_values, operand)


def _require_number(value: Any) -> float:
    if not _is_number(value):
        raise Invalid("Only numbers are greater or less")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_ORDER_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "$gt": lambda stored, wanted: stored > wanted,
    "$gte": lambda stored, wanted: stored >= wanted,
    "$lt": lambda stored, wanted: stored < wanted,
    "$lte": lambda stored, wanted: stored <= wanted,
}
_EQUALITY_OPERATORS: dict[str, Callable[[list[Any], Any], bool]] = {
    "$eq": lambda held, wanted: wanted in held,
    "$ne": lambda held, wanted: wanted not in held,
    "$in": lambda held, wanted: any(value in wanted for value in held),
    "$nin": lambda held, wanted: not any(value in wanted for value in held),
}
