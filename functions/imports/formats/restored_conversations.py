"""Restored conversations: those of our own export, which come back as they were; pure."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, Any

from pydantic import BaseModel, Field

from functions.imports.formats.restored_ids import check_ids
from shared.data.store.codec import type_adapter
from shared.domain.amounts import describe_bytes
from shared.domain.conversations.attachments import AppResult
from shared.domain.conversations.conversation import CATEGORIES, Conversation
from shared.domain.conversations.merge import MAX_FAMILY, MAX_PHOTOS
from shared.domain.errors import Invalid, TooLarge
from shared.domain.ids import AppId, FolderId, PersonId, is_id
from shared.domain.value import value
from shared.library.conversation_schemas import (
    MAX_SEGMENTS,
    ClientId,
    ConversationIn,
    Time,
)
from shared.library.exported_record import ExportedRecord, RecordedSpeaker
from shared.library.validate_conversation import MAX_AHEAD

MAX_RECORD_BYTES = 750_000
"""Of what stands beside the transcript, as JSON: with an inline transcript it fits into a document."""
MAX_COMMIT_BYTES = 6_900_000
"""Of all that is kept: it is written by one commit, with the marks of what was deleted."""
MAX_FORGOTTEN = 300
"""Of more, the rest is left out: they are written with the conversation, by a commit of at most 500 writes."""
DERIVED_COLLECTIONS = frozenset({"memories", "action_items"})
TAKEN_FIELDS = (
    "created_at",
    *(name for name in ConversationIn.model_fields if name != "transcript_segments"),
)


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

    It is private and has no link. What was recorded is bounded as documents are: clients write them themselves.
    """
    shown = _Shown.model_validate(_select(fields, _Shown.model_fields))
    record = _check_record(type_adapter(ExportedRecord).validate_python(fields["record"]), now)
    conversation = _apply(_build_recorded(fields, record), shown, record)
    check_ids([record, conversation.apps_results])
    _check_size(fields, conversation)
    if conversation.started_at > now + MAX_AHEAD:
        raise Invalid("its date lies in the future")
    if not conversation.has_deleted_transcript:
        conversation = replace(conversation, transcript_deleted_at=None, deleted_hash=None)
    return Restored(
        conversation=conversation, record=record, is_complete=shown.status == "completed"
    )


def _build_recorded(fields: Mapping[str, Any], record: ExportedRecord) -> Conversation:
    """Build the conversation as it was recorded. Raises ValueError, Invalid and TooLarge."""
    found = fields.get("transcript_segments") or ()
    if len(found) > MAX_SEGMENTS or len(fields.get("photos") or ()) > MAX_PHOTOS:
        raise TooLarge(f"more than {MAX_SEGMENTS:,} segments or {MAX_PHOTOS} photos")
    segments = [
        _parse_segment(segment, record.recorded.get(number)) for number, segment in enumerate(found)
    ]
    taken = {**_select(fields, TAKEN_FIELDS), "transcript_segments": segments}
    recorded: Conversation = type_adapter(Conversation).validate_python(taken)
    return replace(
        recorded,
        started_at=recorded.started_at.astimezone(UTC),
        finished_at=recorded.finished_at.astimezone(UTC),
    )


def _select(fields: Mapping[str, Any], names: Any) -> dict[str, Any]:
    return {name: fields[name] for name in names if fields.get(name) is not None}


def _check_size(fields: Mapping[str, Any], conversation: Conversation) -> None:
    """Count what is kept: an export shows much of it twice. Raises TooLarge."""
    kept = _select(fields, {*_Shown.model_fields, *TAKEN_FIELDS} - {"photos"})
    record = {**fields["record"], "recorded": None}
    size = count_json_bytes({**kept, "record": record})
    if size > MAX_RECORD_BYTES:
        raise TooLarge(f"more than {describe_bytes(MAX_RECORD_BYTES)} beside the transcript")
    if size + conversation.count_stored_bytes() > MAX_COMMIT_BYTES:
        raise TooLarge(
            f"more than {describe_bytes(MAX_COMMIT_BYTES)} with its transcript and photos"
        )


def count_json_bytes(fields: Mapping[str, Any]) -> int:
    """Count the bytes of a record as JSON in UTF-8: letters of all scripts as they are stored."""
    return len(json.dumps(fields, ensure_ascii=False, default=repr).encode(errors="replace"))


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
    merged_from = record.merged_from[:MAX_FAMILY]  # each is read when it is processed
    return replace(record, kept_at=kept_at, forgotten=forgotten, merged_from=merged_from)


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
