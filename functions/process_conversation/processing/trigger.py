"""Trigger on conversation writes: publish a message if the content hash changed.

Also called: database trigger, change detection, change data capture, Firestore trigger.
"""

from collections.abc import Mapping
from typing import Any

from functions.process_conversation.deps import TriggerDeps
from shared.data.store.codec import MalformedDocument, load
from shared.domain.conversations.conversation import (
    CONVERSATION_CHANGED_TOPIC,
    Conversation,
    content_hash,
)
from shared.domain.ids import is_id
from shared.domain.store.documents import Document, Fields

MALFORMED_HASH = "malformed"
"""Stands for the hash of a document that cannot be read; processing marks it as failed."""


async def publish_change(
    deps: TriggerDeps, path: str, *, old: Fields | None, new: Fields | None
) -> None:
    old, new = (fields and deps.omi_form.read(path, fields) for fields in (old, new))
    event = build_change_event(path, old=old, new=new)
    if event is not None:
        await deps.events.publish(CONVERSATION_CHANGED_TOPIC, event)


def build_change_event(
    path: str, *, old: Fields | None, new: Fields | None
) -> Mapping[str, Any] | None:
    """Return ids and hash; None where the content did not change, as in processing's own writes, or is read again later."""
    match path.split("/"):
        case ["users", uid, "conversations", conversation_id] if is_id(conversation_id):
            ids = {"uid": uid, "conversation_id": conversation_id}
        case _:
            return None
    if new is None:
        return {**ids, "content_hash": None}
    if old is not None and new.get("marked_at") != old.get("marked_at"):
        return None  # a renewal has it read again
    new_hash = _compute_hash(path, new)
    return None if new_hash == _compute_hash(path, old) else {**ids, "content_hash": new_hash}


def _compute_hash(path: str, fields: Fields | None) -> str | None:
    if fields is None:
        return None
    try:
        return content_hash(load(Conversation, Document(path=path, fields=fields, version="")))
    except MalformedDocument:
        return MALFORMED_HASH
