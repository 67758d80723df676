"""Imports: a file's drafts become conversations and records with dates and stable ids."""

import hashlib
import json
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta, tzinfo
from typing import Any

from pydantic import ValidationError

from functions.imports.formats.drafts import (
    SECONDS_PER_WORD,
    SILENT,
    Contents,
    Draft,
    LeftOut,
    Turn,
)
from functions.imports.formats.read_file import Part, read_parts
from shared.domain.conversations.derived_ids import build_action_item_id
from shared.domain.ids import is_id
from shared.domain.value import value
from shared.edge.declare.validation_sentences import format_validation_error
from shared.library.conversation_schemas import (
    MAX_SEGMENTS,
    ConversationIn,
    SegmentIn,
)
from shared.library.decoding import AudioFile, UnreadableFile

GENERATED_ID_PREFIX = "import-"
"""The beginning of ids that are derived from the content."""
MAX_SPEAKER_CHARS = 64
MAX_CHARS = 4_000_000
"""Of a conversation, which has at most 4 MiB of text."""
MAX_TURN_CHARS = 20_000
"""Of a segment; what is longer is divided."""
KEPT_FIELDS = ("finished_at", "source", "language")
MAX_EDIT_CHARS: Mapping[str, int] = {"title": 200, "overview": 10_000, "emoji": 16, "category": 64}
"""What an owner may write over these; the rest of a longer one is left out."""


@value
class ImportedConversation:
    """A conversation to hand in, and what its file already knows of it, as title and overview.

    Where not `is_dated`, the file does not say when it took place.
    """

    conversation: ConversationIn
    edits: Mapping[str, str]
    is_dated: bool


@value
class Import:
    """What one file adds to a library; the records have the fields of an export, and an id.

    `restored`, `records` and `left` are those of Contents.
    """

    conversations: Sequence[ImportedConversation]
    memories: Sequence[Mapping[str, Any]]
    action_items: Sequence[Mapping[str, Any]]
    people: Sequence[Mapping[str, Any]]
    left_out: Sequence[LeftOut] = ()
    restored: Sequence[Mapping[str, Any]] = ()
    records: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    left: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        lists = (self.conversations, self.memories, self.action_items, self.people, self.restored)
        return not (any(lists) or any(self.records.values()) or self.left)


@value
class ParsedFile:
    """A file, or one file of an archive, with what it adds, or the reason why that is nothing.

    `is_recognised` is false where it is text in a form that nobody knows: `content` is then what it
    adds as plain text, if its owner wants that.
    """

    name: str
    content: Import | None = None
    reason: str = ""
    is_recognised: bool = True
    is_audio: bool = False


def parse_files(
    name: str, data: bytes, *, modified: datetime, zone: tzinfo | None = None
) -> list[ParsedFile]:
    """Read a file, or each file of an archive.

    Times without a zone are in `zone`, or else this machine's. `modified` is when a conversation took
    place of which the file does not tell it.
    """
    parts = read_parts(name, data)
    known = {
        str(task.get("description"))
        for part in parts
        if part.contents
        for task in part.contents.action_items
    }
    return [_parse_part(part, known, modified.astimezone(zone)) for part in parts]


def _parse_part(part: Part, known_tasks: Collection[str], modified: datetime) -> ParsedFile:
    if part.contents is None:
        is_audio = isinstance(part.refusal, AudioFile)
        return ParsedFile(name=part.name, reason=str(part.refusal), is_audio=is_audio)
    content = _build_import(part.contents, known_tasks, modified)
    if content.is_empty:
        reasons = [left.reason for left in content.left_out]
        return ParsedFile(name=part.name, reason=(reasons or [SILENT])[0])
    return ParsedFile(name=part.name, content=content, is_recognised=part.contents.is_recognised)


def _build_import(contents: Contents, known_tasks: Collection[str], modified: datetime) -> Import:
    """Build everything of a file; a conversation that cannot be kept does not cost the others."""
    conversations, tasks, left_out = [], [], list(contents.left_out)
    for draft in contents.conversations:
        if not any(turn.text.strip() for turn in draft.turns):
            continue
        try:
            imported = _build_conversation(draft, modified, are_notes=contents.are_notes)
        except UnreadableFile as error:
            left_out.append(LeftOut(title=draft.title, reason=str(error)))
            continue
        conversations.append(imported)
        tasks += _list_tasks(draft, imported, known_tasks)
    return Import(
        conversations=conversations,
        memories=_identify(contents.memories),
        action_items=_identify([*contents.action_items, *tasks]),
        people=_identify(contents.people),
        left_out=left_out,
        restored=contents.restored,
        records=contents.records,
        left=contents.left,
    )


def _build_conversation(
    draft: Draft, modified: datetime, *, are_notes: bool
) -> ImportedConversation:
    if sum(len(turn.text) for turn in draft.turns) > MAX_CHARS:
        raise UnreadableFile(f"too long: more than {MAX_CHARS:,} characters")
    segments = _build_segments([part for turn in draft.turns for part in _divide(turn)])
    told_at = _place(draft.started_at, modified.tzinfo) if draft.started_at else None
    is_dated = told_at is not None and not (are_notes and told_at > modified)
    started_at = told_at if told_at and is_dated else modified
    ends_s = max(segment["end"] for segment in segments)
    known = {name: draft.fields[name] for name in KEPT_FIELDS if name in draft.fields}
    fields: dict[str, Any] = {
        "id": _ensure_id(draft.fields.get("id"), draft),
        "started_at": started_at,
        "finished_at": _add_seconds(started_at, ends_s),
        "transcript_segments": segments,
    }
    return ImportedConversation(
        conversation=_validate({**fields, **known}),
        edits=_build_edits(draft),
        is_dated=is_dated,
    )


def _add_seconds(at: datetime, seconds: float) -> datetime:
    try:
        return at + timedelta(seconds=seconds)
    except (OverflowError, ValueError) as error:
        raise UnreadableFile("its times lie outside of the calendar") from error


def _place(at: datetime, zone: tzinfo | None) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=zone)


def _divide(turn: Turn) -> list[Turn]:
    """Divide a turn that is longer than a segment may be, between words where it has any."""
    if len(turn.text) <= MAX_TURN_CHARS:
        return [turn] if turn.text.strip() else []
    lines = textwrap.wrap(turn.text, MAX_TURN_CHARS, replace_whitespace=False, expand_tabs=False)
    starts = [turn.start, *([None] * len(lines))]
    return [
        replace(turn, text=line, start=start, end=None)
        for line, start in zip(lines, starts, strict=False)
    ]


def _validate(fields: Mapping[str, Any]) -> ConversationIn:
    try:
        return ConversationIn.model_validate(fields)
    except ValidationError as error:
        is_too_long = error.errors()[0]["type"] == "too_long"
        prefix = "too long: " if is_too_long else ""
        raise UnreadableFile(f"{prefix}{format_validation_error(error)}") from error


def _build_segments(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Build segments; where the file tells no times, from the length of the words."""
    if len(turns) > MAX_SEGMENTS:
        raise UnreadableFile(f"too long: more than {MAX_SEGMENTS} turns")
    segments: list[dict[str, Any]] = []
    starts = [turn.start for turn in turns[1:]]
    at = 0.0
    for turn, next_start in zip(turns, [*starts, None], strict=True):
        start = max(0.0, at if turn.start is None else turn.start)
        spoken_until = round(start + SECONDS_PER_WORD * len(turn.text.split()), 1)
        at = turn.end or min(spoken_until, max(next_start or spoken_until, start))
        segments.append(_build_segment(turn, start, max(at, start)))
    return segments


def _build_segment(turn: Turn, start: float, end: float) -> dict[str, Any]:
    speaker = turn.speaker[:MAX_SPEAKER_CHARS] or SegmentIn.model_fields["speaker"].default
    return {
        "text": turn.text,
        "speaker": speaker,
        "is_user": turn.is_user,
        "start": start,
        "end": end,
    }


def _build_edits(draft: Draft) -> dict[str, str]:
    structured = draft.fields.get("structured")
    known = structured if isinstance(structured, dict) else {}
    edits = {**known, "title": draft.title}
    return {
        name: text[:max_chars]
        for name, max_chars in MAX_EDIT_CHARS.items()
        if isinstance(text := edits.get(name), str) and text
    }


def _list_tasks(
    draft: Draft, imported: ImportedConversation, known: Collection[str]
) -> list[dict[str, Any]]:
    """List the tasks that a file names beside a conversation only, with the ids that processing gives them."""
    conversation_id = str(imported.conversation.id)  # an import always has one
    structured = draft.fields.get("structured")
    tasks = structured.get("action_items") if isinstance(structured, dict) else None
    return [
        {
            "id": build_action_item_id(conversation_id, description),
            **task,
            "conversation_id": conversation_id,
        }
        for task in tasks or ()
        if isinstance(task, dict) and (description := str(task.get("description"))) not in known
    ]


def _identify(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**record, "id": _ensure_id(record.get("id"), record)} for record in records]


def _ensure_id(found: object, content: object) -> str:
    """Keep a valid id, or derive one from the content; a file's age changes when it is copied."""
    if isinstance(found, str) and is_id(found):
        return found
    text = json.dumps(content, sort_keys=True, default=repr)
    return GENERATED_ID_PREFIX + hashlib.sha256(text.encode()).hexdigest()[:32]
