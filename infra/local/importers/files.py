"""From a file's bytes, name and age to conversations: its encoding, its date and stable ids."""

import codecs
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from pydantic import ValidationError

from functions.process_conversation.wire import ConversationIn, SegmentIn
from infra.local.importers import cues, exported, plain
from infra.local.importers.said import Unreadable
from shared.domain.ids import is_id

MADE = "import-"
"""Ids that were made from the content begin like this."""

TRANSCRIPTS: Mapping[str, Callable[[str], list[SegmentIn]]] = {
    ".txt": plain.segments,
    ".srt": cues.segments,
    ".vtt": cues.segments,
}
SUFFIXES = frozenset({*TRANSCRIPTS, ".json"})
_DATE = re.compile(
    r"(?<![0-9])((?:19|20)[0-9]{2})-([0-9]{2})-([0-9]{2})"
    r"(?:[ _T-]+([0-9]{2})[:.h-]?([0-9]{2})(?![0-9]))?"
)


def read(name: str, data: bytes, *, modified: datetime) -> list[ConversationIn]:
    """Return a file's conversations, each with an id that stays. Raises Unreadable."""
    text, dated = _decoded(data), date_in(name)
    suffix = name[name.rfind(".") :].lower()
    if suffix == ".json":
        drafts = exported.conversations(text)
    elif suffix in TRANSCRIPTS:
        drafts = [{"transcript_segments": [s.model_dump() for s in TRANSCRIPTS[suffix](text)]}]
    else:
        raise Unreadable(f"only {', '.join(sorted(SUFFIXES))} are read")
    return [_whole(_identified(draft, dated), started=dated or modified) for draft in drafts]


def _decoded(data: bytes) -> str:
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable("its text is neither UTF-8 nor marked as UTF-16") from error


def date_in(name: str) -> datetime | None:
    """Find a day and perhaps a time, meant in the zone of whoever named the file."""
    found = _DATE.search(name)
    if found is None:
        return None
    try:
        return datetime(*(int(number or 0) for number in found.groups())).astimezone()  # type: ignore[arg-type]
    except ValueError:
        return None


def _identified(draft: dict[str, Any], dated: datetime | None) -> dict[str, Any]:
    """Keep a good id, or make one from what is said; a file's age changes when it is copied."""
    if isinstance(draft.get("id"), str) and is_id(draft["id"]):
        return draft
    said = json.dumps([draft, dated and dated.isoformat()], sort_keys=True)
    return {**draft, "id": MADE + hashlib.sha256(said.encode()).hexdigest()[:32]}


def _whole(draft: dict[str, Any], *, started: datetime) -> ConversationIn:
    """Fill in when it began and ended."""
    try:
        begun = {"started_at": started, "finished_at": started, **draft}
        whole = ConversationIn.model_validate(begun)
        if "finished_at" in draft:
            return whole
        lasts = max((s.end for s in whole.transcript_segments), default=0)
        ended = whole.started_at + timedelta(seconds=lasts)
        return whole.model_copy(update={"finished_at": ended})
    except ValidationError as error:
        raise Unreadable(_reason(error)) from error


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{'too long: ' if first['type'] == 'too_long' else ''}{where}: {first['msg']}"
