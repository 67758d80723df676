"""Full documents: transcript and photos that a client wrote into a conversation up to the last byte are stored beside it.

What we make of a conversation stands in its document, which holds a megabyte. The parts are those of our own routes.
"""

import json
from collections.abc import Mapping
from typing import Any

from shared.data.conversations.conversations import split_conversation
from shared.domain.conversations.conversation import Conversation
from shared.domain.store.documents import Fields, Set

ROOMY_BYTES = 900_000
"""Of a document of 1,048,576: the rest holds what processing and its owner add."""
MOVED_FIELDS = ("transcript_segments", "photos")


def make_room(
    path: str, conversation: Conversation, fields: Fields
) -> tuple[Conversation, Mapping[str, Any], list[Set]]:
    """Return a conversation as it is stored from now on, the changes of its `fields`, and the writes of what stands beside it.

    One with room stays as it is, and so does one that has parts or photos beside it, which these would overwrite.
    """
    has_others = conversation.parts or conversation.photo_count
    if has_others or _count_bytes(conversation, fields) <= ROOMY_BYTES:
        return conversation, {}, []
    moved, writes = split_conversation(path, conversation)
    changes = {
        "photos": [],
        "photo_count": moved.photo_count,
        "photo_bytes": moved.photo_bytes,
        **({"transcript_segments": [], "parts": list(moved.parts)} if moved.parts else {}),
    }
    return moved, changes, writes


def _count_bytes(conversation: Conversation, fields: Fields) -> int:
    """Estimate what a document takes up: at least as much, but for its numbers and times."""
    rest = {name: found for name, found in fields.items() if name not in MOVED_FIELDS}
    written = json.dumps(rest, ensure_ascii=False, default=str)
    return conversation.count_stored_bytes() + len(written.encode(errors="replace"))
