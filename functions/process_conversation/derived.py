"""How what was derived meets what is stored: the owner's word stays, the rest is written; pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from functions.process_conversation.draft import Draft
from functions.process_conversation.reconcile import Correction
from shared.data.codec import Malformed, dump, load
from shared.data.memories import memory_path
from shared.data.tasks import action_item_path
from shared.domain.documents import ArrayUnion, Delete, Document, Set, Update, Write
from shared.domain.ids import ConversationId, UserId
from shared.domain.memory import Memory
from shared.domain.task import ActionItem

Stored = Mapping[str, Document]
"""Documents by path; what is not there is missing."""
SEEN_KEPT = 50
"""So many conversations are remembered for having said a fact again."""


def derived_path(uid: UserId, value: ActionItem | Memory) -> str:
    if isinstance(value, Memory):
        return memory_path(uid, value.id)
    return action_item_path(uid, value.id)


def is_owners(document: Document | None) -> bool:
    """Raises nothing: what cannot be read was not written by us, so it is left alone."""
    if document is None:
        return False
    kind: type[ActionItem | Memory] = Memory if "/memories/" in document.path else ActionItem
    try:
        return load(kind, document).is_owners
    except Malformed:
        return True


def as_stored(draft: Draft, uid: UserId, stored: Stored) -> Draft:
    """Return the draft with what the owner and other conversations made of its memories."""
    memories = (_merged(one, stored.get(memory_path(uid, one.id))) for one in draft.memories)
    return replace(
        draft,
        memories=tuple(memories),
        corrections=tuple(c for c in draft.corrections if _is_current(c, uid, stored)),
    )


def writes_of(
    draft: Draft, uid: UserId, stored: Stored, conversation_id: ConversationId
) -> Iterator[Write]:
    """Yield what stores a draft; again is the same."""
    for value in draft.derived:
        path = derived_path(uid, value)
        if not is_owners(stored.get(path)):
            yield Set(path, dump(value))
    for correction in draft.corrections:
        changes = {"valid_to": correction.at, "superseded_by": correction.new}
        yield Update(memory_path(uid, correction.old.id), changes)
    for name in draft.repeated:
        known = stored.get(memory_path(uid, name))
        if known is not None and _is_heard_again(known, conversation_id):
            yield Update(known.path, {"seen_in": ArrayUnion((conversation_id,))})


def _is_heard_again(known: Document, conversation_id: ConversationId) -> bool:
    """A fact that the owner confirmed is not said again by the conversation it came from."""
    elsewhere = known.fields.get("conversation_id") != conversation_id
    return elsewhere and len(known.fields.get("seen_in", ())) < SEEN_KEPT


def removal(document: Document, conversation_id: ConversationId) -> Write | None:
    """Return what takes a derived document from its conversation; None leaves it alone.

    A fact that other conversations said too is theirs from now on, without the quotation. It holds
    for the document as it was read: an owner's edit or another conversation may come between.
    """
    if is_owners(document):
        return None
    others = [one for one in document.fields.get("seen_in", ()) if one != conversation_id]
    if not others:
        return Delete(document.path, document.version)
    heir = {"conversation_id": others[0], "seen_in": others[1:], "evidence": "", "segment": None}
    return Update(document.path, heir, document.version)


def unheard(document: Document, conversation_id: ConversationId) -> Write:
    """Return what forgets that a conversation said a fact again."""
    others = [one for one in document.fields["seen_in"] if one != conversation_id]
    return Update(document.path, {"seen_in": others}, document.version)


def revived(superseded: Iterable[Memory], removed: Iterable[Memory]) -> tuple[Memory, ...]:
    """Return how corrected memories read once what corrected them is removed.

    They hold again, unless that had been corrected itself: then its correction stands for them too.
    """
    by_id = {memory.id: memory for memory in removed}
    return tuple(
        replace(
            memory,
            valid_to=by_id[memory.superseded_by].valid_to,
            superseded_by=by_id[memory.superseded_by].superseded_by,
        )
        for memory in superseded
        if memory.superseded_by in by_id and memory.id not in by_id
    )


def revivals(uid: UserId, memories: Iterable[Memory]) -> list[Write]:
    """Return the writes for memories that read as revived() says."""
    return [
        Update(
            memory_path(uid, memory.id),
            {"valid_to": memory.valid_to, "superseded_by": memory.superseded_by},
        )
        for memory in memories
    ]


def _merged(new: Memory, document: Document | None) -> Memory:
    if document is None:
        return new
    try:
        old = load(Memory, document)
    except Malformed:
        return new
    if old.is_owners:
        return old
    if old.valid_to is None:
        return replace(new, seen_in=old.seen_in)
    return replace(new, seen_in=old.seen_in, valid_to=old.valid_to, superseded_by=old.superseded_by)


def _is_current(correction: Correction, uid: UserId, stored: Stored) -> bool:
    document = stored.get(memory_path(uid, correction.old.id))
    current = document is not None and document.fields.get("valid_to") is None
    return current and not is_owners(document)
