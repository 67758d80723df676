"""JSON reader: a request body, an export, a list of either, or a list of segments."""

import json
from typing import Any

from functions.process_conversation.imports.transcript_turn import OWNER_NAMES, UnreadableFile


def parse_conversations(text: str) -> list[dict[str, Any]]:
    """Return each conversation with the fields it has. Raises UnreadableFile."""
    try:
        items = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(f"it is no JSON: {error}") from error
    if isinstance(items, dict):
        items = items.get("conversations", [items])
    if not isinstance(items, list) or not items or not all(isinstance(o, dict) for o in items):
        raise UnreadableFile("it holds neither conversations nor segments")
    if all("text" in item for item in items):
        items = [{"transcript_segments": items}]
    return [_parse_conversation(item) for item in items]


def _parse_conversation(item: dict[str, Any]) -> dict[str, Any]:
    segments = item.get("transcript_segments")
    if (
        not isinstance(segments, list)
        or not segments
        or not all(isinstance(s, dict) for s in segments)
    ):
        raise UnreadableFile("transcript_segments: a list of segments is expected")
    names = ("id", "started_at", "finished_at", "source", "language")
    fields = {name: item[name] for name in names if item.get(name) is not None}
    if "started_at" not in fields and item.get("created_at") is not None:
        fields["started_at"] = item["created_at"]
    return {**fields, "transcript_segments": [_parse_segment(segment) for segment in segments]}


def _parse_segment(item: dict[str, Any]) -> dict[str, Any]:
    names = ("text", "speaker", "is_user", "start", "end", "person_id")
    fields = {name: item[name] for name in names if item.get(name) is not None}
    speaker = fields.get("speaker")
    if isinstance(speaker, str) and speaker.casefold() in OWNER_NAMES:
        fields.setdefault("is_user", True)
    return fields
