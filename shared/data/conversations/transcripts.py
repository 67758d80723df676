"""Transcript parts: transcripts too long for one document, split into parts with their hashes."""

import hashlib
import json
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from shared.data.store.codec import dump, is_bounded, type_adapter
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.store.documents import Document
from shared.domain.store.sizes import split_by_size

MAX_INLINE_BYTES = 200_000
"""What a document and each part hold: the event of a change carries the old document and the new one, in 512 KB."""
Part = tuple[Segment, ...]


def split_transcript(conversation: Conversation) -> tuple[Conversation, list[Part]]:
    """Return a conversation as it is stored, and the parts that are stored below it."""
    segments = conversation.transcript_segments
    if sum(map(_count_bytes, segments)) <= MAX_INLINE_BYTES:
        return conversation, []
    parts = [tuple(batch) for batch in split_by_size(segments, _count_bytes, MAX_INLINE_BYTES)]
    hashes = tuple(hash_part(part) for part in parts)
    return replace(conversation, transcript_segments=(), parts=hashes), parts


def dump_conversation(conversation: Conversation) -> dict[str, Any]:
    """Return the fields of a conversation, its segments as parts hold them."""
    segments = [segment.to_fields() for segment in conversation.transcript_segments]
    fields = dump(replace(conversation, transcript_segments=(), person_names={}))
    del fields["person_names"]
    return {**fields, "transcript_segments": segments}


def part_path(conversation_path: str, number: int) -> str:
    return f"{conversation_path}/parts/{number}"


def part_fields(part: Part) -> dict[str, Any]:
    return {"segments": [segment.to_fields() for segment in part]}


def read_part(document: Document | None, expected: str) -> Part | None:
    """Return the segments of a part; None where it is missing or has another hash."""
    segments = document.fields.get("segments") if document else None
    if not is_bounded(segments):
        return None
    try:
        part: Part = type_adapter(Part).validate_python(segments)
    except ValidationError:
        return None
    return part if hash_part(part) == expected else None


def hash_part(part: Part) -> str:
    """Hash a part, the same for every writer: SHA-256 of its segments as compact JSON arrays."""
    arrays = [[s.text, s.speaker, s.is_user, float(s.start), float(s.end)] for s in part]
    compact = json.dumps(arrays, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(compact.encode()).hexdigest()


def _count_bytes(segment: Segment) -> int:
    return len(json.dumps(segment.to_fields(), ensure_ascii=False).encode())
