"""Contents of an imported file as a whole: what its parts hold, put together."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from functions.imports.formats.drafts import Contents
from functions.imports.formats.read_file import read_parts
from shared.library.decoding import UnreadableFile


def read_file(name: str, data: bytes) -> Contents:
    """Return everything that a file holds. Raises UnreadableFile where nothing of it can be read."""
    parts = read_parts(name, data)
    contents = [part.contents for part in parts if part.contents]
    if contents:
        return _join(contents)
    refusals = [part.refusal for part in parts if part.refusal]
    if parts[0].name == name:
        raise refusals[0]
    named = [f"{part.name}: {part.refusal}" for part in parts]
    raise UnreadableFile("; ".join(named))


def _join(contents: Iterable[Contents]) -> Contents:
    everything = list(contents)
    return Contents(
        conversations=[draft for c in everything for draft in c.conversations],
        memories=[record for c in everything for record in c.memories],
        action_items=[record for c in everything for record in c.action_items],
        people=[record for c in everything for record in c.people],
        restored=[item for c in everything for item in c.restored],
        records=join_records(c.records for c in everything),
        left={name: reason for c in everything for name, reason in c.left.items()},
        left_out=[left for c in everything for left in c.left_out],
    )


def join_records(
    parts: Iterable[Mapping[str, Sequence[Mapping[str, Any]]]],
) -> dict[str, list[dict[str, Any]]]:
    """Return the records of several parts by kind."""
    joined: dict[str, list[dict[str, Any]]] = {}
    for records in parts:
        for kind, found in records.items():
            joined.setdefault(kind, []).extend(map(dict, found))
    return joined
