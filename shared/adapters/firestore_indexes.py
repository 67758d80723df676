"""Which queries Firestore serves: automatic single-field indexes, and infra/firestore.indexes.json.

The emulator lets every query through, the cloud does not. So the embedded store asks here.
"""

import json
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from shared.adapters.firestore_limits import RANGES
from shared.domain.documents import Order, Query
from shared.domain.errors import Invalid
from shared.domain.value import value

Mode = Literal["asc", "desc", "array_contains"]

JSON: dict[Mode, dict[str, str]] = {
    "asc": {"order": "ASCENDING"},
    "desc": {"order": "DESCENDING"},
    "array_contains": {"arrayConfig": "CONTAINS"},
}


@value
class Index:
    """A composite index of the collections named `group`; `fields` in order, with their modes."""

    group: str
    fields: tuple[tuple[str, Mode], ...]


@value
class Need:
    """What a composite index must hold: what is compared, in any order, then what is ordered."""

    group: str
    compared: frozenset[tuple[str, Mode]]
    ordered: tuple[tuple[str, Mode], ...]

    def is_served_by(self, index: Index) -> bool:
        first = len(self.compared)
        compared = {(name, _either(mode)) for name, mode in index.fields[:first]}
        return (
            index.group == self.group
            and compared == self.compared
            and index.fields[first:] == self.ordered
        )

    def as_json(self) -> str:
        """Return the entry to add to firestore.indexes.json."""
        fields = [
            {"fieldPath": name, **JSON[mode]}
            for name, mode in (*sorted(self.compared), *self.ordered)
        ]
        return json.dumps(
            {"collectionGroup": self.group, "queryScope": "COLLECTION", "fields": fields}
        )


@value
class FirestoreIndexes:
    """The composite indexes, and the fields that have no automatic one: (group, field).

    `used` collects the composite indexes that served a query.
    """

    composite: tuple[Index, ...] = ()
    exempt: frozenset[tuple[str, str]] = frozenset()
    used: set[Index] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path) -> "FirestoreIndexes":
        """Read the file that `firebase deploy` takes."""
        table = json.loads(path.read_text())
        return cls(
            composite=tuple(_index(entry) for entry in table["indexes"]),
            exempt=frozenset(
                (entry["collectionGroup"], entry["fieldPath"])
                for entry in table["fieldOverrides"]
                if not entry["indexes"]
            ),
        )

    def check(self, query: Query) -> None:
        """Raises Invalid for a query that Firestore would refuse, with the index to add."""
        group = group_of(query.collection)
        for name in _fields(query):
            if self.is_exempt(group, name):
                raise Invalid(f"{name!r} is not indexed in {group!r}: see firestore.indexes.json")
        need = needed(query)
        if need is None:
            return
        serving = next((index for index in self.composite if need.is_served_by(index)), None)
        if serving is None:
            raise Invalid(f"firestore.indexes.json lacks {need.as_json()}")
        self.used.add(serving)

    def is_exempt(self, group: str, name: str) -> bool:
        """Say whether a field, or a map that holds it, has no index."""
        parts = name.split(".")
        return any((group, ".".join(parts[:n])) in self.exempt for n in range(1, len(parts) + 1))


def group_of(collection: str) -> str:
    """Return the last name of a collection path: indexes are declared for it."""
    return collection.rsplit("/", 1)[-1]


def effective_order(query: Query) -> tuple[Order, ...]:
    """Return the orders of a query with those that its ranges imply."""
    named = {order.field for order in query.order_by}
    direction = query.order_by[-1].direction if query.order_by else "asc"
    ranges = {where.field for where in query.where if where.operator in RANGES}
    return (*query.order_by, *(Order(name, direction) for name in sorted(ranges - named)))


def needed(query: Query) -> Need | None:
    """Return what a query needs of a composite index, or None where automatic ones serve it.

    Those serve any number of equalities, or one field that is ordered or ranged over, or one
    `array_contains`; what mixes them needs a composite one.
    """
    single = {w.field for w in query.where if w.operator == "=="}
    order = [(o.field, o.direction) for o in effective_order(query) if o.field not in single]
    equal = {w.field for w in query.where if w.operator in {"==", "in"}} - dict(order).keys()
    contains = {w.field for w in query.where if w.operator == "array_contains"}
    if sum((bool(equal), bool(contains), len(order))) <= 1:
        return None
    return Need(
        group=group_of(query.collection),
        compared=frozenset(
            {*((name, "asc") for name in equal), *((name, "array_contains") for name in contains)}
        ),
        ordered=tuple(order),
    )


def _fields(query: Query) -> set[str]:
    return {where.field for where in query.where} | {order.field for order in query.order_by}


def _either(mode: Mode) -> Mode:
    """An equality reads an index in both directions."""
    return "asc" if mode == "desc" else mode


def _index(entry: dict[str, Any]) -> Index:
    modes = {tuple(shape.items()): mode for mode, shape in JSON.items()}
    fields = []
    for part in entry["fields"]:
        shape = tuple((key, value) for key, value in part.items() if key != "fieldPath")
        fields.append((part["fieldPath"], modes[shape]))
    return Index(group=entry["collectionGroup"], fields=tuple(fields))
