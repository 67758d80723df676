"""Documents: their paths and values, and the queries and writes over them.

Also called: optimistic locking, preconditions, query builder, compare-and-swap, batch writes.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from shared.domain.value import positional_value, value

Value = None | bool | int | float | str | bytes | datetime | list[Any] | dict[str, Any]
Fields = Mapping[str, Any]
"""Field name → Value; maps nest, lists do not hold lists."""

Operator = Literal["==", "<", "<=", ">", ">=", "in", "array_contains", "array_contains_any"]
LIST_OPERATORS: frozenset[Operator] = frozenset({"in", "array_contains_any"})
"""They compare with any of several values."""
ARRAY_OPERATORS: frozenset[Operator] = frozenset({"array_contains", "array_contains_any"})
Direction = Literal["asc", "desc"]


@value
class Document:
    """A stored document. `version` changes with every write and means nothing else."""

    path: str
    fields: Mapping[str, Any]
    version: str

    @property
    def id(self) -> str:
        return self.path.rsplit("/", 1)[1]


@positional_value
class Where:
    """A filter on a field; a dotted name reaches into maps."""

    field: str
    operator: Operator
    value: Any


@positional_value
class Order:
    """An order on a field; documents without the field are dropped, as Firestore does."""

    field: str
    direction: Direction = "asc"


@value
class Query:
    """Documents of one collection. Ties are ordered by document id, in the last order's direction.

    All of `where` hold, and of `any_of` at least one, if there are any. `start_after` is the `cursor()` of
    the last document seen. `fields` limits what is read.
    """

    collection: str
    where: tuple[Where, ...] = ()
    any_of: tuple[Where, ...] = ()
    order_by: tuple[Order, ...] = ()
    limit: int | None = None
    start_after: tuple[Any, ...] | None = None
    fields: tuple[str, ...] | None = None


def build_cursor(document: Document, query: Query) -> tuple[Any, ...]:
    """Return the position of `document` in `query`: its ordered values, then its id."""
    return (*(lookup(document.fields, order.field) for order in query.order_by), document.id)


def lookup(fields: Fields, dotted: str) -> Any:
    """Return the value at a dotted field path, or None where there is none."""
    value: Any = fields
    for name in dotted.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    return value


@positional_value
class Increment:
    """In an update: add to a number; a missing field counts as 0."""

    by: int


@positional_value
class ArrayUnion:
    """In an update: append the values that the list lacks."""

    values: tuple[Any, ...]


@positional_value
class Remove:
    """In an update: remove the field."""


@positional_value
class Create:
    """Create a document; raises AlreadyExists if it exists."""

    path: str
    fields: Fields


@positional_value
class Set:
    """Write a whole document, whether or not it exists."""

    path: str
    fields: Fields


@positional_value
class Update:
    """Change named fields (dotted paths) of an existing document.

    Values may be Increment, ArrayUnion or Remove. With `version`, only if it is unchanged. Raises
    PreconditionFailed.
    """

    path: str
    changes: Fields
    version: str | None = None


@positional_value
class Delete:
    """Delete a document if it exists; with `version`, only if it is unchanged."""

    path: str
    version: str | None = None


Write = Create | Set | Update | Delete
