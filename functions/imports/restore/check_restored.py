"""Checks of what our own export holds, before any of it is kept: what cannot be kept is named; pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from functions.imports.formats.drafts import LeftOut
from functions.imports.formats.restored_conversations import parse_restored
from functions.imports.formats.restored_records import build_record, build_settings
from functions.imports.refusals import (
    REFUSALS,
    describe_refusal,
    name_item,
)

Fields = Mapping[str, Any]


def leave_out_restored(
    items: Sequence[Fields], now: datetime
) -> tuple[list[Fields], list[LeftOut]]:
    """Return the conversations that can be kept, and why others cannot."""
    kept: list[Fields] = []
    left_out: list[LeftOut] = []
    for item in items:
        try:
            parse_restored(item, now)
        except REFUSALS as error:
            left_out.append(
                LeftOut(title=name_item("restored", item), reason=describe_refusal(error))
            )
        else:
            kept.append(item)
    return kept, left_out


def leave_out_records(
    records: Mapping[str, Sequence[Fields]], now: datetime
) -> tuple[dict[str, list[Fields]], list[LeftOut]]:
    """Return the records that can be kept, by kind, and why others cannot."""
    kept: dict[str, list[Fields]] = {}
    left_out: list[LeftOut] = []
    for kind, items in records.items():
        for item in items:
            try:
                build_record(kind, item, now)
            except REFUSALS as error:
                title = name_item(kind, item)
                left_out.append(LeftOut(title=title, reason=describe_refusal(error)))
            else:
                kept.setdefault(kind, []).append(item)
    return kept, left_out


def count_records(kind: str, items: Sequence[Fields]) -> int:
    """Count what people count: the folders of their list, and the settings of their profile."""
    if kind == "folders":
        return sum(len(item.get("folders") or ()) for item in items)
    if kind == "settings":
        return sum(len(build_settings(item)) for item in items)
    return len(items)


def summarise_restored(item: Fields) -> dict[str, Any]:
    """Return how a conversation of an export is listed."""
    segments = item.get("transcript_segments") or []
    names = dict.fromkeys(segment.get("speaker_name") for segment in segments)
    return {
        "id": item["id"],
        "title": name_item("restored", item),
        "started_at": item["started_at"],
        "segments": len(segments),
        "speakers": [name for name in names if name][:30],
    }
