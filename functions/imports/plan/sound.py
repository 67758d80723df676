"""Sound among imported files: it becomes an item like a conversation, or is refused with what to set."""

import json
from dataclasses import replace
from datetime import UTC, datetime, time
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from shared.domain.errors import Conflict, Gone, NotFound
from shared.domain.ids import UserId
from shared.library.deps import ImportDeps
from shared.library.recordings import (
    NO_TRANSCRIBER,
    RecordingNotes,
    start_recording,
    store_sound,
)

if TYPE_CHECKING:
    from functions.imports.plan.plan import Plan, SourceFile

MEDIA_TYPE = "application/octet-stream"
IN_ARCHIVE = "it is sound or a film in an archive; import it as a file of its own"


async def plan_sound(
    deps: ImportDeps, uid: UserId, source: "SourceFile", plan: "Plan", zone: ZoneInfo
) -> "Plan":
    """Return the plan of a file with the sound in it to be kept, or refused in words for people.

    A time in its name is one of `zone`.
    """
    is_archive = len(plan.entries) > 1 or plan.entries[0]["name"] != source.shown_name
    if not deps.transcriber.is_ready or is_archive:
        reason = IN_ARCHIVE if is_archive else NO_TRANSCRIBER
        entries = [
            {**entry, "reason": reason} if entry["is_audio"] else entry for entry in plan.entries
        ]
        return replace(plan, entries=entries)
    if not plan.entries[0]["is_audio"]:
        return plan
    upload_id = await store_sound(
        deps, uid, source.data, name=source.shown_name, media_type=MEDIA_TYPE
    )
    return _build_plan(plan, upload_id, source, zone)


def _find_named_time(name: str, zone: ZoneInfo) -> datetime | None:
    """Return the time that a file's name tells, as recorders write it; a day alone is none."""
    from functions.imports.formats.stamps import find_date

    named = find_date(name)
    if named is None or named.time() == time.min:
        return None
    return (named if named.tzinfo else named.replace(tzinfo=zone)).astimezone(UTC)


def _build_plan(plan: "Plan", upload_id: str, source: "SourceFile", zone: ZoneInfo) -> "Plan":
    named_at = _find_named_time(source.shown_name, zone)
    started_at = (named_at or source.modified).isoformat()
    conversation = {
        "id": upload_id,
        "title": PurePosixPath(source.shown_name).stem,
        "started_at": started_at,
        "segments": 0,
        "speakers": [],
    }
    entry = {
        **plan.entries[0],
        "status": "kept",
        "reason": "",
        "conversation_count": 1,
        "conversations": [conversation],
    }
    times = {
        "started_at": named_at.isoformat() if named_at else None,
        "changed_at": source.modified.isoformat(),
    }
    item = json.dumps({"kind": "recording", "id": upload_id, **times})
    return replace(plan, entries=[entry], items=[[item]])


async def keep_recording(deps: ImportDeps, uid: UserId, fields: dict[str, Any]) -> None:
    """Have a recording transcribed; one that is gone, or that is handed in already, stays so."""
    started_at, changed_at = fields.get("started_at"), fields.get("changed_at")
    notes = RecordingNotes(
        started_at=datetime.fromisoformat(started_at) if started_at else None,
        changed_at=datetime.fromisoformat(changed_at) if changed_at else None,
    )
    try:
        await start_recording(deps, uid, fields["id"], notes)
    except (Conflict, NotFound, Gone):
        return
