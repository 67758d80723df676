"""Exports of Omi and of us as JSON: conversations, and what stands beside them, by the names of both our forms."""

from typing import Any

from functions.imports.formats.drafts import (
    SILENT,
    Contents,
    Draft,
    LeftOut,
    TextFile,
    Turn,
    is_owner_name,
)
from functions.imports.formats.json_fields import (
    Fields,
    find_number,
    find_text,
    find_time,
    list_objects,
)
from functions.imports.formats.restored_conversations import is_exported
from functions.imports.formats.restored_records import (
    NOT_TAKEN,
    RESTORED_KINDS,
    list_settings_left,
)
from shared.library.decoding import UnreadableFile
from shared.library.exported_record import NAMES_IN_JSON

EXPORTED_LISTS = ("memories", "action_items", "people")
WHOLE_EXPORT = frozenset({"profile", "conversations", "chat_sessions", "daily_summaries"})
"""The names by which one JSON object is known as our export."""


class EmptyPart(UnreadableFile):
    """A list of an export in which nothing stands: nothing is to be said of it."""


def is_export(file: TextFile) -> bool:
    fields = _find_fields(file.content)
    return bool(
        any(is_exported(item) or _has_segments(item) for item in _list_conversations(fields))
        or any(list_objects(fields.get(name)) for name in EXPORTED_LISTS)
        or (_is_whole(fields) and read_collections(fields).records)
    )


def read_export(file: TextFile) -> Contents:
    fields = _find_fields(file.content)
    listed = _list_conversations(fields)
    restored = [item for item in listed if is_exported(item)]
    others = [item for item in listed if _has_segments(item) and not is_exported(item)]
    silent = [item for item in listed if not is_exported(item) and not _has_segments(item)]
    memories, action_items, people = (list_objects(fields.get(name)) for name in EXPORTED_LISTS)
    whole = read_collections(fields) if _is_whole(fields) else Contents()
    return Contents(
        conversations=[_read_conversation(item) for item in others],
        memories=memories,
        action_items=action_items,
        people=people,
        restored=restored,
        records=whole.records,
        left=whole.left,
        left_out=[LeftOut(title=_find_title(item), reason=SILENT) for item in silent],
    )


def _find_fields(content: Any) -> Fields:
    return content if isinstance(content, dict) else {"conversations": content}


def _list_conversations(fields: Fields) -> list[dict[str, Any]]:
    is_single = "transcript_segments" in fields
    return list_objects(fields.get("conversations", [fields] if is_single else []))


def _has_segments(item: Fields) -> bool:
    return bool(list_objects(item.get("transcript_segments")))


def _read_conversation(item: Fields) -> Draft:
    names = ("id", "finished_at", "source", "language", "structured")
    return Draft(
        turns=[_read_segment(segment) for segment in list_objects(item["transcript_segments"])],
        title=_find_title(item),
        started_at=find_time(item, ("started_at", "created_at")),
        fields={name: item[name] for name in names if item.get(name) is not None},
    )


def _find_title(item: Fields) -> str:
    structured = item.get("structured")
    return (find_text(structured, ("title",)) or "") if isinstance(structured, dict) else ""


def _read_segment(item: Fields) -> Turn:
    speaker = find_text(item, ("speaker_name", "speaker")) or ""
    return Turn(
        text=find_text(item, ("text",)) or "",
        speaker=speaker,
        start=find_number(item, ("start",)),
        end=find_number(item, ("end",)),
        is_user=bool(item.get("is_user")) or is_owner_name(speaker),
    )


# --- what an export of ours holds beside conversations, memories, tasks and people


def _is_whole(fields: Fields) -> bool:
    return fields.keys() >= WHOLE_EXPORT


def read_collections(fields: Fields) -> Contents:
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
