"""Restored conversations: those of our own export, which come back as they were; pure."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from functions.process_conversation.library.conversation_schemas import (
    MAX_SEGMENTS,
    ClientId,
    ConversationIn,
    PhotoIn,
    SegmentIn,
    Time,
)
from functions.process_conversation.library.exported_record import ExportedRecord, RecordedSpeaker
from functions.process_conversation.library.merging import MAX_PHOTOS
from functions.process_conversation.library.validation import validate_conversation
from shared.data.codec import type_adapter
from shared.domain.attachments import AppResult
from shared.domain.conversation import CATEGORIES, Conversation
from shared.domain.errors import Invalid, TooLarge
from shared.domain.ids import AppId, FolderId, PersonId, is_id
from shared.domain.value import value

MAX_RECORD_CHARS = 200_000
"""Of what stands beside the transcript: with an inline transcript it fits into a document."""
MAX_FORGOTTEN = 300
"""Of more, the rest is left out: they are written with the conversation, by a commit of at most 500 writes."""
DERIVED_COLLECTIONS = frozenset({"memories", "action_items"})
TAKEN_FIELDS = (
    "id", "started_at", "finished_at", "source", "language", "geolocation", "external_data",
)  # fmt: skip


class _Shown(BaseModel):
    """The fields of an exported conversation that an owner cannot send with a new one."""

    id: ClientId
    created_at: Time
    status: str = "completed"
    discarded: bool = False
    starred: bool = False
    app_id: ClientId | None = None
    folder_id: ClientId | None = None
    apps_results: Annotated[tuple[AppResult, ...], Field(max_length=20)] = ()
    suggested_summarization_apps: Annotated[tuple[ClientId, ...], Field(max_length=50)] = ()


class _SegmentIn(SegmentIn):
    """A segment at any time: what was merged may have begun long before."""

    start: float = 0.0
    end: float = 0.0


class _Content(BaseModel):
    """What was recorded, which a merge may have made more than an owner can send at once."""

    transcript_segments: Annotated[tuple[_SegmentIn, ...], Field(max_length=MAX_SEGMENTS)]
    photos: Annotated[tuple[PhotoIn, ...], Field(max_length=MAX_PHOTOS)] = ()


@value
class Restored:
    """A conversation as its export tells it, and the record beside it.

    `is_complete`: what a model made of it came along.
    """

    conversation: Conversation
    record: ExportedRecord
    is_complete: bool


def is_exported(item: Mapping[str, Any]) -> bool:
    """Tell whether a conversation of a file comes from our own export."""
    return isinstance(item.get("record"), dict)


def parse_restored(fields: Mapping[str, Any], now: datetime) -> Restored:
    """Build the conversation of an exported one. Raises ValueError, Invalid and TooLarge.

    It is private and has no link.
    """
    _check_size(fields)
    shown = _Shown.model_validate(_select(fields, _Shown.model_fields))
    record = _check_record(type_adapter(ExportedRecord).validate_python(fields["record"]), now)
    conversation = _apply(_build_recorded(fields, shown.id, record), shown, record)
    if not conversation.has_deleted_transcript:
        validate_conversation(conversation, now)
        conversation = replace(conversation, transcript_deleted_at=None, deleted_hash=None)
    return Restored(
        conversation=conversation, record=record, is_complete=shown.status == "completed"
    )


def _build_recorded(fields: Mapping[str, Any], name: str, record: ExportedRecord) -> Conversation:
    """Build the conversation as it was recorded. Raises ValueError and Invalid."""
    segments = [
        _parse_segment(segment, record.recorded.get(number))
        for number, segment in enumerate(fields.get("transcript_segments") or ())
    ]
    content = _Content.model_validate(
        {**_select(fields, ("photos",)), "transcript_segments": segments}
    )
    body = ConversationIn.model_validate(
        {**_select(fields, TAKEN_FIELDS), "transcript_segments": []}
    )
    return replace(
        body.to_conversation(name),
        transcript_segments=tuple(segment.to_segment() for segment in content.transcript_segments),
        photos=tuple(photo.to_photo() for photo in content.photos),
    )


def _select(fields: Mapping[str, Any], names: Any) -> dict[str, Any]:
    return {name: fields[name] for name in names if fields.get(name) is not None}


def _check_size(fields: Mapping[str, Any]) -> None:
    """Count what is kept: an export shows much of it twice. Raises TooLarge."""
    kept = _select(fields, {*_Shown.model_fields, *TAKEN_FIELDS})
    record = fields.get("record") or {}
    size = len(json.dumps({**kept, "record": {**record, "recorded": None}}, ensure_ascii=False))
    if size > MAX_RECORD_CHARS:
        raise TooLarge(f"more than {MAX_RECORD_CHARS:,} characters beside the transcript")


def _check_record(record: ExportedRecord, now: datetime) -> ExportedRecord:
    """Return it with what our stores hold. Raises Invalid."""
    names = [*record.forgotten, *record.merged_from]
    if not all(map(is_id, names)):
        raise Invalid("A conversation's record has ids alone.")
    if not DERIVED_COLLECTIONS.issuperset(record.forgotten.values()):
        raise Invalid("Only memories and tasks can be marked as deleted.")
    if record.structured.category not in CATEGORIES:
        record = replace(record, structured=replace(record.structured, category="other"))
    kept_at = min(record.kept_at, now) if record.kept_at else None
    forgotten = dict(islice(record.forgotten.items(), MAX_FORGOTTEN))
    return replace(record, kept_at=kept_at, forgotten=forgotten)


def _parse_segment(segment: Any, recorded: RecordedSpeaker | None) -> dict[str, Any]:
    """Return a segment as its recorder sent it. Raises Invalid."""
    if not isinstance(segment, dict):
        raise Invalid("The segments of a transcript are objects.")
    names = ("id", "text", "start", "end", "is_user", "person_id", "translations")
    found = _select(segment, names)
    speaker = segment.get("speaker_name") or segment.get("speaker") or "SPEAKER_00"
    if recorded is None:
        return {**found, "speaker": speaker}
    return {
        **found,
        "speaker": recorded.speaker,
        "is_user": recorded.is_user,
        "person_id": recorded.person_id,
    }


def _apply(base: Conversation, shown: _Shown, record: ExportedRecord) -> Conversation:
    speakers = [*record.speakers.values(), *(each.speaker for each in record.assignments)]
    person_ids = {PersonId(s.person_id) for s in speakers if s.person_id}
    return replace(
        base,
        created_at=shown.created_at,
        discarded=shown.discarded,
        structured=record.structured,
        topics=record.topics,
        edits=record.edits,
        speakers=record.speakers,
        assignments=record.assignments,
        person_ids=tuple(sorted(person_ids)),
        starred=shown.starred,
        app_id=AppId(shown.app_id) if shown.app_id else None,
        folder_id=FolderId(shown.folder_id) if shown.folder_id else None,
        transcript_deleted_at=record.transcript_deleted_at,
        deleted_hash=record.deleted_hash,
        merged_from=record.merged_from,
        apps_results=shown.apps_results,
        suggested_summarization_apps=tuple(map(AppId, shown.suggested_summarization_apps)),
        summary_app=record.summary_app,
        kept_at=record.kept_at,
    )


def describe_refusal(error: Exception) -> str:
    """Say in one line why a part of an export is not taken."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error) or "it is not in the form of an export"
