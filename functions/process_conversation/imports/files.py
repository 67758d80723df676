"""Import of files: bytes, a name and an age become conversations with dates and stable ids."""

import codecs
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from pydantic import ValidationError

from functions.process_conversation.imports import cues, exported, plain
from functions.process_conversation.imports.transcript_turn import UnreadableFile
from functions.process_conversation.library.conversation_schemas import ConversationIn, SegmentIn
from shared.domain.ids import is_id

GENERATED_ID_PREFIX = "import-"
"""The beginning of ids that are derived from the content."""

SEGMENT_PARSERS: Mapping[str, Callable[[str], list[SegmentIn]]] = {
    ".txt": plain.parse_segments,
    ".srt": cues.parse_segments,
    ".vtt": cues.parse_segments,
}
SUFFIXES = frozenset({*SEGMENT_PARSERS, ".json"})
_DATE = re.compile(
    r"(?<![0-9])((?:19|20)[0-9]{2})-([0-9]{2})-([0-9]{2})"
    r"(?:[ _T-]+([0-9]{2})[:.h-]?([0-9]{2})(?![0-9]))?"
)


def parse_file(name: str, data: bytes, *, modified: datetime) -> list[ConversationIn]:
    """Return a file's conversations, each with a stable id. Raises UnreadableFile."""
    text, file_date = _decode(data), parse_date(name)
    suffix = name[name.rfind(".") :].lower()
    if suffix == ".json":
        drafts = exported.parse_conversations(text)
    elif suffix in SEGMENT_PARSERS:
        drafts = [{"transcript_segments": [s.model_dump() for s in SEGMENT_PARSERS[suffix](text)]}]
    else:
        raise UnreadableFile(f"only {', '.join(sorted(SUFFIXES))} are read")
    return [
        _build_conversation(_ensure_id(draft, file_date), default_start=file_date or modified)
        for draft in drafts
    ]


def _decode(data: bytes) -> str:
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile("its text is neither UTF-8 nor marked as UTF-16") from error


def parse_date(name: str) -> datetime | None:
    """Find a date, perhaps with a time, in a file's name; it is in the local time zone."""
    match = _DATE.search(name)
    if match is None:
        return None
    try:
        return datetime(*(int(number or 0) for number in match.groups())).astimezone()  # type: ignore[arg-type]
    except ValueError:
        return None


def _ensure_id(draft: dict[str, Any], file_date: datetime | None) -> dict[str, Any]:
    """Keep a valid id, or derive one from the content; a file's age changes when it is copied."""
    if isinstance(draft.get("id"), str) and is_id(draft["id"]):
        return draft
    content = json.dumps([draft, file_date and file_date.isoformat()], sort_keys=True)
    return {**draft, "id": GENERATED_ID_PREFIX + hashlib.sha256(content.encode()).hexdigest()[:32]}


def _build_conversation(draft: dict[str, Any], *, default_start: datetime) -> ConversationIn:
    """Fill in the start and the end. Raises UnreadableFile."""
    try:
        fields = {"started_at": default_start, "finished_at": default_start, **draft}
        conversation = ConversationIn.model_validate(fields)
        if "finished_at" in draft:
            return conversation
        duration_s = max((s.end for s in conversation.transcript_segments), default=0)
        finished_at = conversation.started_at + timedelta(seconds=duration_s)
        return conversation.model_copy(update={"finished_at": finished_at})
    except ValidationError as error:
        raise UnreadableFile(_format_reason(error)) from error


def _format_reason(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{'too long: ' if first['type'] == 'too_long' else ''}{where}: {first['msg']}"
