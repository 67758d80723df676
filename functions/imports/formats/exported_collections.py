"""Exported collections: the profile and the lists of our own export, by the names of both its forms; pure."""

from collections.abc import Mapping
from typing import Any

from functions.imports.formats.drafts import Contents
from functions.imports.formats.restored_records import (
    NOT_TAKEN,
    RESTORED_KINDS,
    list_settings_left,
)
from shared.library.decoding import UnreadableFile
from shared.library.exported_record import NAMES_IN_JSON

WHOLE_EXPORT = frozenset({"profile", "conversations", "chat_sessions", "daily_summaries"})
"""The names by which one JSON object is known as our export."""


class EmptyPart(UnreadableFile):
    """A list of an export in which nothing stands: nothing is to be said of it."""


def is_whole_export(fields: Mapping[str, Any]) -> bool:
    return fields.keys() >= WHOLE_EXPORT


def read_collections(fields: Mapping[str, Any]) -> Contents:
    """Return what a whole export holds beside conversations, memories, tasks and people."""
    records, left = {}, {}
    for name in (*RESTORED_KINDS, *NOT_TAKEN):
        found = fields.get(name, fields.get(NAMES_IN_JSON.get(name, name)))
        items = _list_items(found)
        if items and name in NOT_TAKEN:
            left[name] = NOT_TAKEN[name]
        elif items:
            records[RESTORED_KINDS[name]] = items
    settings = fields.get("profile")
    if isinstance(settings, dict):
        left |= list_settings_left(settings)
    return Contents(records=records, left=left)


def read_collection(name: str, content: Any) -> Contents:
    """Return what one file of an export in parts holds. Raises UnreadableFile."""
    if not _list_items(content):
        raise EmptyPart("nothing stands in it")
    return read_collections({name: content})


def _list_items(found: Any) -> list[dict[str, Any]]:
    listed = [found] if isinstance(found, dict) else found
    items = listed if isinstance(listed, list) else []
    return [item for item in items if isinstance(item, dict) and item]
