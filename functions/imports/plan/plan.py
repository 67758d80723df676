"""Plan of an import: what became of each file, and the items that keeping it adds to the library; pure."""

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from functions.imports.formats.build import (
    Import,
    ImportedConversation,
    ParsedFile,
    parse_files,
)
from functions.imports.formats.drafts import LeftOut
from functions.imports.restore.check_restored import (
    count_records,
    leave_out_records,
    leave_out_restored,
    summarise_restored,
)
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.errors import Invalid, TooLarge
from shared.domain.value import value
from shared.library.conversation_schemas import ConversationIn
from shared.library.validate_conversation import MAX_AHEAD, validate_conversation

MAX_NAME_CHARS = 200
MAX_LISTED = 200
"""Conversations of one file that are listed; all are kept, and counted."""
MAX_LISTED_IN_ALL = 2_000
"""Of all files that are read together, so that what is told of them stays small."""
MAX_LISTED_LEFT_OUT = 50
MAX_TITLE_CHARS = 200
MAX_LISTED_SPEAKERS = 30
FIRST_KINDS = ("settings", "folders")
QUESTION = "It is text, but in no form that is known here. Shall it be kept as plain text?"


@value
class SourceFile:
    """A file as it was handed in, or uploaded as `upload_id`; `modified` is when it was last changed."""

    name: str
    data: bytes
    modified: datetime
    upload_id: str = ""

    @property
    def shown_name(self) -> str:
        return clean_name(self.name)


@value
class Plan:
    """What became of the files, as JSON objects, and the items of each, as JSON texts."""

    entries: Sequence[dict[str, Any]]
    items: Sequence[Sequence[str]]


def plan_file(source: SourceFile, zone: str, now: datetime) -> Plan:
    """Read a file, or each file of an archive; times without a zone are in `zone`."""
    name = clean_name(source.name)
    try:
        files = parse_files(name, source.data, modified=source.modified, zone=ZoneInfo(zone))
    except (MemoryError, RecursionError):
        return plan_refusal(name, "reading it takes more memory than there is")
    checked = sorted((_leave_out_invalid(file, now) for file in files), key=_rank)
    return Plan(
        entries=shorten_lists([build_entry(file) for file in checked]),
        items=[[*_build_items(file.content)] if file.content else [] for file in checked],
    )


def shorten_lists(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """List no more conversations than MAX_LISTED_IN_ALL, those of the first files; in place."""
    budget = MAX_LISTED_IN_ALL
    for entry in entries:
        for name in ("conversations", "left_out"):
            entry[name] = entry[name][:budget]
            budget -= len(entry[name])
    return entries


def _rank(file: ParsedFile) -> int:
    """Put files first to which others refer: settings, people and folders; last messages, then their alternatives."""
    if file.content is None:
        return 1
    if file.content.people or not file.content.records.keys().isdisjoint(FIRST_KINDS):
        return 0
    records = file.content.records
    if "message" in records:
        return 2
    return 3 if "alternative" in records else 1


def plan_refusal(name: str, reason: str) -> Plan:
    return Plan(entries=[build_entry(ParsedFile(name=clean_name(name), reason=reason))], items=[[]])


def clean_name(name: str) -> str:
    """Return a file's name as people may read it: on one line, without characters that hide others."""
    shown = "".join(c if unicodedata.category(c)[0] != "C" else "\ufffd" for c in name)
    return shown[-MAX_NAME_CHARS:] or "file"


def _leave_out_invalid(file: ParsedFile, now: datetime) -> ParsedFile:
    """Leave out the conversations that no library takes, such as those of the future."""
    if file.content is None:
        return file
    kept, left_out = [], list(file.content.left_out)
    for imported in file.content.conversations:
        reason = _find_refusal(imported.conversation, now)
        if reason is None:
            kept.append(imported)
        else:
            left_out.append(LeftOut(title=_find_title(imported), reason=reason))
    restored, refused = leave_out_restored(file.content.restored, now)
    records, refused_records = leave_out_records(file.content.records, now)
    left_out += [*refused, *refused_records]
    content = Import(
        conversations=kept,
        memories=file.content.memories,
        action_items=file.content.action_items,
        people=file.content.people,
        left_out=left_out,
        restored=restored,
        records=records,
        left=file.content.left,
    )
    if content.is_empty:
        return ParsedFile(name=file.name, reason=left_out[0].reason)
    return ParsedFile(name=file.name, content=content, is_recognised=file.is_recognised)


def _find_refusal(conversation: ConversationIn, now: datetime) -> str | None:
    if conversation.started_at and conversation.started_at > now + MAX_AHEAD:
        return "its date lies in the future"
    try:
        validate_conversation(conversation.to_conversation(""), now)
    except (Invalid, TooLarge) as error:
        return str(error)
    return None


def build_entry(file: ParsedFile) -> dict[str, Any]:
    """Return what became of a file, as JSON."""
    content = file.content
    if content is None:
        status, reason = "refused", file.reason
    else:
        status, reason = ("kept", "") if file.is_recognised else ("question", QUESTION)
    entry = {
        "name": clean_name(file.name),
        "status": status,
        "reason": reason,
        "is_audio": file.is_audio,
        "conversation_count": 0,
        "conversations": [],
        "memories": 0,
        "action_items": 0,
        "people": 0,
        "records": {},
        "not_taken": [],
        "left_out": [],
    }
    return entry if content is None else {**entry, **_describe(content)}


def _describe(content: Import) -> dict[str, Any]:
    left_out = content.left_out[:MAX_LISTED_LEFT_OUT]
    return {
        "conversation_count": len(content.conversations) + len(content.restored),
        "conversations": [
            *[_summarise(c) for c in content.conversations],
            *map(summarise_restored, content.restored),
        ][:MAX_LISTED],
        "memories": len(content.memories),
        "action_items": len(content.action_items),
        "people": len(content.people),
        "records": {k: count_records(k, found) for k, found in content.records.items() if found},
        "not_taken": [{"name": name, "reason": content.left[name]} for name in content.left],
        "left_out": [
            {
                "title": left.title[:MAX_TITLE_CHARS],
                "reason": left.reason,
                "words": left.words,
            }
            for left in left_out
        ],
        "speakers": _count_speakers(content.conversations),
        "has_owner": any(map(_has_owner, content.conversations)),
    }


def _summarise(imported: ImportedConversation) -> dict[str, Any]:
    conversation = imported.conversation
    segments = conversation.transcript_segments or []
    speakers = dict.fromkeys(segment.speaker for segment in segments)
    return {
        "id": conversation.id,
        "title": _find_title(imported),
        "started_at": conversation.started_at and conversation.started_at.isoformat(),
        "segments": len(segments),
        "speakers": [name for name in speakers if is_name(name)][:MAX_LISTED_SPEAKERS],
        "is_dated": imported.is_dated,
    }


def _find_title(imported: ImportedConversation) -> str:
    """Return the title, or how the conversation begins."""
    segments = imported.conversation.transcript_segments or []
    beginning = segments[0].text.split("\n")[0][:80] if segments else ""
    return (imported.edits.get("title") or beginning)[:MAX_TITLE_CHARS]


def _count_speakers(conversations: Sequence[ImportedConversation]) -> dict[str, int]:
    """Count the segments of each named speaker; the owner of a file who is called `me` has no name."""
    counts = Counter(
        segment.speaker
        for imported in conversations
        for segment in imported.conversation.transcript_segments or ()
        if is_name(segment.speaker) and not segment.is_user
    )
    return dict(counts.most_common(MAX_LISTED_SPEAKERS))


def _has_owner(imported: ImportedConversation) -> bool:
    return any(segment.is_user for segment in imported.conversation.transcript_segments or ())


def _build_items(content: Import) -> Iterator[str]:
    """Yield everything to be kept: what others refer to first."""
    first = {kind: content.records.get(kind, ()) for kind in FIRST_KINDS}
    others = {kind: found for kind, found in content.records.items() if kind not in FIRST_KINDS}
    lists: Mapping[str, Sequence[Mapping[str, Any]]] = {
        "person": content.people,
        **first,
        "restored": content.restored,
        "conversation": [*map(_dump_conversation, content.conversations)],
        "memory": content.memories,
        "action_item": content.action_items,
        **others,
    }
    for kind, found in lists.items():
        for fields in found:
            yield _to_json(kind, fields)


def _dump_conversation(imported: ImportedConversation) -> dict[str, Any]:
    fields = imported.conversation.model_dump(mode="json", exclude_unset=True)
    return {**fields, "edits": dict(imported.edits)}


def _to_json(kind: str, fields: Mapping[str, Any]) -> str:
    write: Callable[[object], str] = repr
    return json.dumps({"kind": kind, **_rename(fields)}, ensure_ascii=False, default=write)


def _rename(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Keep a field of the record that is called like ours out of the way."""
    return {name: found for name, found in fields.items() if name != "kind"}
