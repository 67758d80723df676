"""Firestore indexes of infra/firestore.indexes.json, and the queries they serve.

A collection whose wildcard `*` is exempt has the listed indexes alone; any other has automatic ones as well.

The emulator accepts every query, the cloud does not, so the embedded store checks each query here.

Also called: composite index, database index.
"""

import json
from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Literal

from shared.adapters.firestore_limits import RANGE_OPERATORS
from shared.domain.errors import Invalid
from shared.domain.store.documents import ARRAY_OPERATORS, Order, Query
from shared.domain.value import value

Mode = Literal["asc", "desc", "array_contains"]

MODE_JSON: dict[Mode, dict[str, str]] = {
    "asc": {"order": "ASCENDING"},
    "desc": {"order": "DESCENDING"},
    "array_contains": {"arrayConfig": "CONTAINS"},
}
DUE_SHARDS = 8
"""What is due of all users stands in so many ranges of an index: each bears 500 writes a second."""
DUE_SHARD = "due_shard"
DUE_FIELDS = ((DUE_SHARD, "asc"), ("due_at", "asc"))
WILDCARD = "*"


@value
class Index:
    """A composite index of the collections named `group`; `fields` in order, with their modes."""

    group: str
    fields: tuple[tuple[str, Mode], ...]


@value
class IndexRequirement:
    """The requirement on a composite index: compared fields in any order, then ordered ones."""

    group: str
    compared_fields: frozenset[tuple[str, Mode]]
    ordered_fields: tuple[tuple[str, Mode], ...]

    def is_served_by(self, index: Index) -> bool:
        first = len(self.compared_fields)
        index_fields = {(name, _normalise_mode(mode)) for name, mode in index.fields[:first]}
        return (
            index.group == self.group
            and index_fields == self.compared_fields
            and index.fields[first:] == self.ordered_fields
        )

    def to_json(self) -> str:
        """Return the entry to add to firestore.indexes.json."""
        fields = [
            {"fieldPath": name, **MODE_JSON[mode]}
            for name, mode in (*sorted(self.compared_fields), *self.ordered_fields)
        ]
        return json.dumps(
            {"collectionGroup": self.group, "queryScope": "COLLECTION", "fields": fields}
        )


@value
class FirestoreIndexes:
    """The composite indexes, those of one field, and the fields that have no automatic one: (group, field).

    `due_groups` have one over all collections of their name, by DUE_FIELDS. `listed_groups` have no automatic indexes.
    `used_indexes` collects those that served a query.
    """

    composite: tuple[Index, ...] = ()
    single: frozenset[Index] = frozenset()
    exempt_fields: frozenset[tuple[str, str]] = frozenset()
    due_groups: frozenset[str] = frozenset()
    listed_groups: frozenset[str] = frozenset()
    used_indexes: set[Index] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path) -> "FirestoreIndexes":
        """Read the file that `firebase deploy` takes."""
        table = json.loads(path.read_text())
        overrides = table["fieldOverrides"]
        exempt_fields = {_name_override(entry) for entry in overrides if not entry["indexes"]}
        composite = [(entry["queryScope"], _parse_index(entry)) for entry in table["indexes"]]
        return cls(
            composite=tuple(index for scope, index in composite if scope == "COLLECTION"),
            single=frozenset(
                _parse_index({**entry, "fields": [{"fieldPath": entry["fieldPath"], **shape}]})
                for entry in overrides
                for shape in _list_own_shapes(entry)
            ),
            exempt_fields=frozenset(exempt_fields),
            due_groups=frozenset(
                index.group
                for scope, index in composite
                if scope == "COLLECTION_GROUP" and index.fields == DUE_FIELDS
            ),
            listed_groups=frozenset(g for g, field in exempt_fields if field == WILDCARD),
        )

    def check(self, query: Query) -> None:
        """Raises Invalid for a query that Firestore would refuse, with the index to add."""
        for alternative in split_alternatives(query):
            self._check_alternative(alternative)

    def _check_alternative(self, query: Query) -> None:
        group = get_collection_group(query.collection)
        for name in _collect_fields(query):
            if self.is_exempt(group, name):
                raise Invalid(f"{name!r} is not indexed in {group!r}: see firestore.indexes.json")
        requirement = find_requirement(query)
        if requirement is None:
            self._check_single(group, query)
            return
        serving_index = next(
            (index for index in self.composite if requirement.is_served_by(index)), None
        )
        if serving_index is None:
            raise Invalid(f"firestore.indexes.json lacks {requirement.to_json()}")
        self.used_indexes.add(serving_index)

    def _check_single(self, group: str, query: Query) -> None:
        if group not in self.listed_groups:
            return
        for index in find_single_requirements(query):
            if index not in self.single:
                raise Invalid(f"firestore.indexes.json lacks {describe_single(index)}")
            self.used_indexes.add(index)

    def check_due(self, group: str) -> None:
        """Raises Invalid where what is due has no index over all collections of this name."""
        if group not in self.due_groups:
            raise Invalid(f"firestore.indexes.json lacks 'due_at' over all {group!r}")

    def is_exempt(self, group: str, name: str) -> bool:
        """Tell whether a field, or a map that holds it, has no index."""
        while name:
            if (group, name) in self.exempt_fields:
                return True
            name = name.rpartition(".")[0]
        return False


def get_collection_group(collection: str) -> str:
    """Return the last name of a collection path: indexes are declared for it."""
    return collection.rsplit("/", 1)[-1]


def find_shape(query: Query) -> tuple[object, ...]:
    """Return all of a query that decides which indexes serve it, without its values."""
    return (
        get_collection_group(query.collection),
        tuple([(where.field, where.operator) for where in query.where]),
        tuple([(where.field, where.operator) for where in query.any_of]),
        query.order_by,
    )


def compute_effective_order(query: Query) -> tuple[Order, ...]:
    """Return the orders of a query with those that its ranges imply."""
    ordered_names = {order.field for order in query.order_by}
    direction = query.order_by[-1].direction if query.order_by else "asc"
    wheres = (*query.where, *query.any_of)
    ranges = {where.field for where in wheres if where.operator in RANGE_OPERATORS}
    return (*query.order_by, *(Order(name, direction) for name in sorted(ranges - ordered_names)))


def split_alternatives(query: Query) -> list[Query]:
    """Return a query for each of its alternatives, in the order of the whole: each needs an index."""
    order = compute_effective_order(query)
    alternatives = [(*query.where, each) for each in query.any_of] or [query.where]
    return [replace(query, where=where, any_of=(), order_by=order) for where in alternatives]


def order_by_summed(query: Query, fields: Sequence[str]) -> Query:
    """Return the query of the documents that a sum reads: its index holds the summed fields as well."""
    order = (*compute_effective_order(query), *(Order(field) for field in fields))
    return replace(query, order_by=order)


def find_requirement(query: Query) -> IndexRequirement | None:
    """Return the composite index that a query needs, or None where automatic ones serve it.

    Automatic ones serve any number of equalities, or one field that is ordered or ranged over, or
    one `array_contains` or `array_contains_any`; a mix needs a composite one.
    """
    fixed_names = {w.field for w in query.where if w.operator == "=="}
    order = [
        (o.field, o.direction) for o in compute_effective_order(query) if o.field not in fixed_names
    ]
    equality_names = {w.field for w in query.where if w.operator in {"==", "in"}} - dict(
        order
    ).keys()
    array_names = {w.field for w in query.where if w.operator in ARRAY_OPERATORS}
    if sum((bool(equality_names), bool(array_names), len(order))) <= 1:
        return None
    return IndexRequirement(
        group=get_collection_group(query.collection),
        compared_fields=frozenset(
            {
                *((name, "asc") for name in equality_names),
                *((name, "array_contains") for name in array_names),
            }
        ),
        ordered_fields=tuple(order),
    )


def find_single_requirements(query: Query) -> list[Index]:
    """Return the indexes of one field that a query needs which no composite one serves."""
    group = get_collection_group(query.collection)
    modes: list[tuple[str, Mode]] = [
        (where.field, "array_contains" if where.operator in ARRAY_OPERATORS else "asc")
        for where in query.where
        if where.operator not in RANGE_OPERATORS
    ]
    fixed_names = {name for name, _ in modes}
    modes += [
        (o.field, o.direction) for o in compute_effective_order(query) if o.field not in fixed_names
    ]
    return [Index(group=group, fields=(each,)) for each in modes]


def describe_single(index: Index) -> str:
    """Return what to add to the entry of its field in firestore.indexes.json."""
    [(name, mode)] = index.fields
    shape = {**MODE_JSON[mode], "queryScope": "COLLECTION"}
    entry = {"collectionGroup": index.group, "fieldPath": name, "indexes": [shape]}
    return json.dumps(entry)


def _collect_fields(query: Query) -> set[str]:
    return {where.field for where in query.where} | {order.field for order in query.order_by}


def _normalise_mode(mode: Mode) -> Mode:
    """Treat both directions alike: an equality reads an index in either."""
    return "asc" if mode == "desc" else mode


def _name_override(entry: dict[str, Any]) -> tuple[str, str]:
    return entry["collectionGroup"], entry["fieldPath"]


def _list_own_shapes(entry: dict[str, Any]) -> list[dict[str, str]]:
    """Return the shapes of those indexes of a field that serve one collection."""
    return [
        {key: value for key, value in shape.items() if key != "queryScope"}
        for shape in entry["indexes"]
        if shape["queryScope"] == "COLLECTION"
    ]


def _parse_index(entry: dict[str, Any]) -> Index:
    modes = {tuple(shape.items()): mode for mode, shape in MODE_JSON.items()}
    fields = []
    for part in entry["fields"]:
        shape = tuple((key, value) for key, value in part.items() if key != "fieldPath")
        fields.append((part["fieldPath"], modes[shape]))
    return Index(group=entry["collectionGroup"], fields=tuple(fields))
