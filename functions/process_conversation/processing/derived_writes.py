"""How what was derived meets what is stored: the owner's word stays, the rest is written; pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from functions.process_conversation.processing.draft import Draft
from shared.data.action_items import action_item_path
from shared.data.codec import MalformedDocument, dump, load
from shared.data.memories import memory_path
from shared.domain.action_item import ActionItem
from shared.domain.documents import ArrayUnion, Delete, Document, Set, Update, Write
from shared.domain.ids import ConversationId, UserId
from shared.domain.memory import Memory
from shared.library.reconcile import Correction

DocumentsByPath = Mapping[str, Document]
"""Documents by path; what is not there is missing."""
MAX_SEEN_IN = 50
"""So many conversations are remembered for having said a fact again."""


def derived_path(uid: UserId, value: ActionItem | Memory) -> str:
    if isinstance(value, Memory):
        return memory_path(uid, value.id)
    return action_item_path(uid, value.id)


def is_user_owned(document: Document | None) -> bool:
    """Raises nothing: what cannot be read was not written by us, so it is left alone."""
    if document is None:
        return False
    kind: type[ActionItem | Memory] = Memory if "/memories/" in document.path else ActionItem
    try:
        return load(kind, document).is_user_owned
    except MalformedDocument:
        return True


def merge_stored(draft: Draft, uid: UserId, documents: DocumentsByPath) -> Draft:
    """Return the draft with what the owner and other conversations made of its memories."""
    memories = (
        _merge_with_stored(memory, documents.get(memory_path(uid, memory.id)))
        for memory in draft.memories
    )
    return replace(
        draft,
        memories=tuple(memories),
        corrections=tuple(c for c in draft.corrections if _is_current(c, uid, documents)),
    )


def build_writes(
    draft: Draft, uid: UserId, documents: DocumentsByPath, conversation_id: ConversationId
) -> Iterator[Write]:
    """Yield what stores a draft; again is the same."""
    for value in draft.derived_values:
        path = derived_path(uid, value)
        if not is_user_owned(documents.get(path)):
            yield Set(path, dump(value.with_wording()))
    for correction in draft.corrections:
        changes = {"valid_to": correction.corrected_at, "superseded_by": correction.new_id}
        yield Update(memory_path(uid, correction.old.id), changes)
    for name in draft.repeated_ids:
        document = documents.get(memory_path(uid, name))
        if document is not None and _is_new_mention(document, conversation_id):
            yield Update(document.path, {"seen_in": ArrayUnion((conversation_id,))})


def _is_new_mention(document: Document, conversation_id: ConversationId) -> bool:
    """A fact that the owner confirmed is not said again by the conversation it came from."""
    is_elsewhere = document.fields.get("conversation_id") != conversation_id
    return is_elsewhere and len(document.fields.get("seen_in", ())) < MAX_SEEN_IN


def build_removal(document: Document, conversation_id: ConversationId) -> Write | None:
    """Return what takes a derived document from its conversation; None leaves it alone.

    A fact that other conversations said too is theirs from now on, without the quotation. It holds
    for the document as it was read: an owner's edit or another conversation may come between.
    """
    if is_user_owned(document):
        return None
    others = [other for other in document.fields.get("seen_in", ()) if other != conversation_id]
    if not others:
        return Delete(document.path, document.version)
    fields = {"conversation_id": others[0], "seen_in": others[1:], "evidence": "", "segment": None}
    return Update(document.path, fields, document.version)


def remove_mention(document: Document, conversation_id: ConversationId) -> Write:
    """Return what forgets that a conversation said a fact again."""
    others = [other for other in document.fields["seen_in"] if other != conversation_id]
    return Update(document.path, {"seen_in": others}, document.version)


def restore_superseded(
    superseded_memories: Iterable[Memory], removed_memories: Iterable[Memory]
) -> tuple[Memory, ...]:
    """Return how corrected memories read once what corrected them is removed.

    They hold again, unless that had been corrected itself: then its correction stands for them too.
    """
    by_id = {memory.id: memory for memory in removed_memories}
    return tuple(
        replace(
            memory,
            valid_to=by_id[memory.superseded_by].valid_to,
            superseded_by=by_id[memory.superseded_by].superseded_by,
        )
        for memory in superseded_memories
        if memory.superseded_by in by_id and memory.id not in by_id
    )


def build_restore_writes(uid: UserId, memories: Iterable[Memory]) -> list[Write]:
    """Return the writes for memories that read as revived() says."""
    return [
        Update(
            memory_path(uid, memory.id),
            {"valid_to": memory.valid_to, "superseded_by": memory.superseded_by},
        )
        for memory in memories
    ]


def _merge_with_stored(new: Memory, document: Document | None) -> Memory:
    if document is None:
        return new
    try:
        old = load(Memory, document)
    except MalformedDocument:
        return new
    if old.is_user_owned:
        return old
    if old.valid_to is None:
        return replace(new, seen_in=old.seen_in)
    return replace(new, seen_in=old.seen_in, valid_to=old.valid_to, superseded_by=old.superseded_by)


def _is_current(correction: Correction, uid: UserId, documents: DocumentsByPath) -> bool:
    document = documents.get(memory_path(uid, correction.old.id))
    is_current = document is not None and document.fields.get("valid_to") is None
    return is_current and not is_user_owned(document)
