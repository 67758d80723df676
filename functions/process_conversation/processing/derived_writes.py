"""Derived writes: the documents that store a draft, none over what its owner changed; pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from functions.process_conversation.processing.draft import Draft
from shared.data.conversations.conversations import tombstone_path
from shared.data.memories.memories import memory_path
from shared.data.store.codec import MalformedDocument, dump, load
from shared.data.tasks.action_items import action_item_path
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memories.memory import MAX_SEEN_IN, Memory
from shared.domain.store.documents import (
    ArrayUnion,
    Create,
    Delete,
    Document,
    Fields,
    Set,
    Update,
    Write,
)
from shared.domain.tasks.action_item import ActionItem
from shared.library.reconcile import Correction
from shared.library.superseded import build_correction_writes

DocumentsByPath = Mapping[str, Document]
"""The documents that exist, by path."""


def derived_path(uid: UserId, value: ActionItem | Memory) -> str:
    if isinstance(value, Memory):
        return memory_path(uid, value.id)
    return action_item_path(uid, value.id)


def is_user_owned(document: Document | None) -> bool:
    """Tell whether processing must not touch it; a malformed document was not written by us."""
    if document is None:
        return False
    kind: type[ActionItem | Memory] = Memory if "/memories/" in document.path else ActionItem
    try:
        return load(kind, document).is_user_owned
    except MalformedDocument:
        return True


def merge_stored(draft: Draft, uid: UserId, documents: DocumentsByPath) -> Draft:
    """Return the draft with the changes that its owner and other conversations made to its memories."""
    memories = (
        _merge_with_stored(memory, documents.get(memory_path(uid, memory.id)))
        for memory in draft.memories
    )
    return replace(
        draft,
        memories=tuple(memories),
        corrections=tuple(c for c in draft.corrections if _is_current(c, uid, documents)),
    )


def build_memory_writes(
    draft: Draft, uid: UserId, documents: DocumentsByPath, conversation_id: ConversationId
) -> Iterator[Write]:
    """Yield the writes that store a draft's memories; to apply them twice changes nothing."""
    yield from build_writes(draft.memories, uid, documents)
    yield from build_correction_writes(uid, draft.corrections)
    for name in draft.repeated_ids:
        document = documents.get(memory_path(uid, name))
        if document is not None and _is_new_mention(document, conversation_id):
            mention = {"seen_in": ArrayUnion((conversation_id,))}
            yield Update(document.path, {**mention, **_build_release(document)})


def build_writes(
    values: Iterable[ActionItem | Memory], uid: UserId, documents: DocumentsByPath
) -> Iterator[Write]:
    """Yield the writes that store what is derived; to apply them twice changes nothing."""
    for value in values:
        path = derived_path(uid, value)
        document = documents.get(path)
        if document is None:
            yield Create(path, dump(value.with_wording()))
        elif not is_user_owned(document):
            yield Set(path, dump(_keep_place(value, document).with_wording()))


def _keep_place(value: ActionItem | Memory, document: Document) -> ActionItem | Memory:
    """Leave a task where its owner's list and phone have it, so that it is not exported again."""
    if not isinstance(value, ActionItem):
        return value
    return value.with_place_of(load(ActionItem, document))


def _build_release(document: Document) -> Fields:
    """Return what makes a held fact true; nothing for another."""
    if document.fields.get("held_until") is None:
        return {}
    return {"held_until": None, "valid_to": None}


def _is_new_mention(document: Document, conversation_id: ConversationId) -> bool:
    """A conversation does not repeat the fact that it is the origin of."""
    is_elsewhere = document.fields.get("conversation_id") != conversation_id
    return is_elsewhere and len(document.fields.get("seen_in", ())) < MAX_SEEN_IN


def build_tombstones(path: str, memories: Iterable[Memory]) -> Iterator[Write]:
    """Yield the writes after which the conversation at `path` does not bring these memories back."""
    for memory in memories:
        yield Set(tombstone_path(path, memory.id), {"of": "memories"})


def list_forgotten_memories(tombstones: Iterable[Document]) -> list[MemoryId]:
    """Return the ids of the memories that tombstones stand for."""
    return [MemoryId(t.id) for t in tombstones if t.fields.get("of") == "memories"]


def build_removal(document: Document, conversation_id: ConversationId) -> Write | None:
    """Return the write that removes a derived document; None for one that its owner wrote.

    A fact that other conversations repeat passes to the first of them, without its evidence. The write
    fails with PreconditionFailed if the document changed since it was read.
    """
    if is_user_owned(document):
        return None
    others = [other for other in document.fields.get("seen_in", ()) if other != conversation_id]
    if not others:
        return Delete(document.path, document.version)
    fields = {"conversation_id": others[0], "seen_in": others[1:], "evidence": "", "segment": None}
    return Update(document.path, fields, document.version)


def list_deleted_memories(writes: Iterable[Write]) -> list[MemoryId]:
    """Return the ids of the memories that some writes delete."""
    paths = [write.path for write in writes if isinstance(write, Delete)]
    return [MemoryId(path.rpartition("/")[2]) for path in paths if "/memories/" in path]


def remove_mention(document: Document, conversation_id: ConversationId) -> Write:
    """Return the write that removes a conversation from those that repeat a fact."""
    others = [other for other in document.fields["seen_in"] if other != conversation_id]
    return Update(document.path, {"seen_in": others}, document.version)


def remove_mentions(
    documents: Iterable[Document | None], conversation_id: ConversationId
) -> Iterator[Write]:
    """Yield the writes that take a conversation away from facts that it repeated before.

    One that passed to it meanwhile, from the conversation that it came from, passes on or goes.
    """
    for document in filter(None, documents):
        if document.fields.get("conversation_id") == conversation_id:
            yield from filter(None, [build_removal(document, conversation_id)])
        elif conversation_id in document.fields.get("seen_in", ()):
            yield remove_mention(document, conversation_id)


def _merge_with_stored(new: Memory, document: Document | None) -> Memory:
    if document is None:
        return new
    try:
        old = load(Memory, document)
    except MalformedDocument:
        return new
    if old.is_user_owned:
        return old
    if old.is_held:
        return replace(new, seen_in=old.seen_in)
    new = new.release()
    if old.valid_to is None:
        return replace(new, seen_in=old.seen_in)
    return replace(new, seen_in=old.seen_in, valid_to=old.valid_to, superseded_by=old.superseded_by)


def _is_current(correction: Correction, uid: UserId, documents: DocumentsByPath) -> bool:
    document = documents.get(memory_path(uid, correction.old.id))
    is_current = document is not None and document.fields.get("valid_to") is None
    return is_current and not is_user_owned(document)
