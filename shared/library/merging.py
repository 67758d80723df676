"""Merging of conversations: one takes the place of several; for an hour, the several can come back."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from anyio import to_thread

from shared import telemetry
from shared.data.account.quotas import Quotas
from shared.data.store.codec import load
from shared.data.stores import Stores
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.merge import MAX_FAMILY, MAX_PHOTOS, UNDO_TTL, Merge
from shared.domain.conversations.merged_transcript import merge_conversations
from shared.domain.errors import Conflict, NotFound, TooLarge, Unavailable
from shared.domain.ids import ConversationId, UserId
from shared.domain.store.documents import Document
from shared.domain.value import value
from shared.library.conversation_schemas import MAX_SEGMENTS
from shared.library.validate_conversation import validate_conversation
from shared.ports import Clock, NewId, Tasks

FINISH_TARGET = "finish_merge"
MAX_ATTEMPTS = 3
MAX_MOVED = 100
"""Memories and tasks of the owner that move along: a transaction holds at most 500 writes."""
MAX_SOUND = 250
"""Recordings that move along: without one of them, its sound would outlive the conversation."""


class MergeDeps(Protocol):
    """What merging needs."""

    @property
    def clock(self) -> Clock: ...
    @property
    def new_id(self) -> NewId: ...
    @property
    def stores(self) -> Stores: ...
    @property
    def quotas(self) -> Quotas: ...
    @property
    def tasks(self) -> Tasks: ...


@value
class _Plan:
    """A merge to be stored, and what was read for it."""

    merge: Merge
    merged: Conversation
    sources: tuple[Document, ...]


async def merge(
    deps: MergeDeps, uid: UserId, ids: Sequence[ConversationId], *, are_labels_shared: bool = False
) -> Merge:
    """Merge conversations into a new one; a repeat returns the merge that is stored.

    With `are_labels_shared`, the same label is the same unknown speaker.

    The task that makes the merge final is created first: whatever happens then, no source stays
    behind. Raises NotFound, Conflict, TooLarge, and Unavailable while the sources keep changing.
    """
    merged_id = ConversationId(deps.new_id())
    finish_at = deps.clock.now() + UNDO_TTL
    for attempt in range(MAX_ATTEMPTS):
        documents = await deps.stores.merges.read_sources(uid, ids)
        stored_merge = await _find_stored(deps, uid, documents)
        if stored_merge is not None:
            return stored_merge
        plan = await _plan(deps, uid, merged_id, documents, are_labels_shared=are_labels_shared)
        if attempt == 0:
            name = f"finish-merge-{telemetry.hash_id(uid)}-{merged_id}"
            body = {"uid": uid, "id": merged_id}
            await deps.tasks.create(FINISH_TARGET, name, body, at=finish_at)
        if await deps.stores.merges.store(uid, plan.merge, plan.merged, sources=plan.sources):
            return plan.merge
    raise Unavailable("The conversations keep changing")


async def _find_stored(deps: MergeDeps, uid: UserId, documents: Sequence[Document]) -> Merge | None:
    """Return the merge of just these conversations. Raises NotFound where one is in another."""
    targets = {document.fields.get("merged_into") for document in documents}
    if targets == {None}:
        return None
    target = targets.pop()
    stored_merge = await deps.stores.merges.find(uid, target) if target and not targets else None
    ids = {document.id for document in documents}
    if stored_merge is None or set(stored_merge.source_ids) != ids:
        raise NotFound("Conversation not found")
    return stored_merge


async def _plan(
    deps: MergeDeps,
    uid: UserId,
    merged_id: ConversationId,
    documents: Sequence[Document],
    *,
    are_labels_shared: bool,
) -> _Plan:
    now = deps.clock.now()
    sources = [await _load_source(deps, uid, document) for document in documents]
    build = partial(merge_conversations, are_labels_shared=are_labels_shared)
    merged = await to_thread.run_sync(build, sources, merged_id)
    _validate(merged)
    validate_conversation(merged, now)
    moved = [pair for source in sources for pair in await _list_moved(deps, uid, source.id)]
    sound = [pair for source in sources for pair in await _list_sound(deps, uid, source.id)]
    if len(sound) > MAX_SOUND:
        raise TooLarge(f"A merged conversation has at most {MAX_SOUND} recordings")
    return _Plan(
        merge=Merge(
            id=merged_id,
            source_ids=tuple(source.id for source in sources),
            merged_at=now,
            expires_at=now + UNDO_TTL,
            discarded_ids=tuple(source.id for source in sources if source.discarded),
            moved=dict([*sound, *moved[:MAX_MOVED]]),
        ),
        merged=replace(merged, listed_at=now),
        sources=tuple(documents),
    )


async def _load_source(deps: MergeDeps, uid: UserId, document: Document) -> Conversation:
    """Return a conversation with its transcript and photos. Raises Conflict where it cannot be merged."""
    stored = load(Conversation, document)
    unheard = await deps.stores.recordings.list_unheard_of(uid, stored.id)
    is_unheard = any(each.status == "transcribing" for each in unheard)
    if is_unheard or stored.status == "in_progress":
        raise Conflict("A conversation that is still being recorded cannot be merged.")
    if stored.has_deleted_transcript:
        raise Conflict("The transcript of a conversation was deleted, so it cannot be merged.")
    [with_photos] = await deps.stores.conversations.load_photos(uid, [stored])
    return await deps.stores.conversations.load_transcript(uid, with_photos)


async def _list_moved(
    deps: MergeDeps, uid: UserId, source_id: ConversationId
) -> list[tuple[str, ConversationId]]:
    """Return what the owner wrote or changed; the rest is derived anew."""
    memories = await deps.stores.memories.list_for_conversation(uid, source_id)
    tasks = await deps.stores.action_items.list_for_conversation(uid, source_id)
    return [
        *((f"memories/{memory.id}", source_id) for memory in memories if memory.is_user_owned),
        *((f"action_items/{task.id}", source_id) for task in tasks if task.is_user_owned),
    ]


async def _list_sound(
    deps: MergeDeps, uid: UserId, source_id: ConversationId
) -> list[tuple[str, ConversationId]]:
    recordings = await deps.stores.recordings.list_of_conversation(uid, source_id)
    return [(f"recordings/{recording.id}", source_id) for recording in recordings]


def _validate(merged: Conversation) -> None:
    """Raises TooLarge."""
    if len(merged.transcript_segments) > MAX_SEGMENTS:
        raise TooLarge(f"A merged conversation has at most {MAX_SEGMENTS} segments")
    if len(merged.photos) > MAX_PHOTOS:
        raise TooLarge(f"A merged conversation has at most {MAX_PHOTOS} photos")
    if len(merged.merged_from) > MAX_FAMILY:
        raise TooLarge(f"A merged conversation is made of at most {MAX_FAMILY}")


async def undo_merge(deps: MergeDeps, uid: UserId, merged_id: ConversationId) -> Merge:
    """Bring the sources back. Raises NotFound once the hour is over."""
    now = deps.clock.now()
    undone, added_bytes = await deps.stores.merges.undo(uid, merged_id, now)
    await deps.quotas.give_back(uid, "stored_bytes", added_bytes, now=now)
    return undone
