"""Bin of the library: what its owner threw away in the console leaves every reader at once, and can come back.

A conversation takes along what was derived from it and its sound; it comes back by being processed again.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from shared.data.account.bin_entries import BEING_RECORDED, build_entry_write
from shared.data.account.quotas import Quotas
from shared.data.search.library_index import LibraryIndex
from shared.data.store.codec import dump
from shared.data.stores import Stores
from shared.domain.account.bin_entry import BIN_TTL, BinEntry, BinKind
from shared.domain.conversations.conversation import Conversation
from shared.domain.errors import Conflict, NotFound, TooLarge
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Write
from shared.domain.tasks.action_item import ActionItem
from shared.library.memory_index import index_memories
from shared.library.owner_memories import delete_memory
from shared.library.settle_memories import settle_memories
from shared.library.superseded import build_restore_writes, restore_superseded
from shared.library.task_reminders import announce_tasks
from shared.ports import Clock, Tasks

MAX_PARTS = 200
"""What a conversation takes along: a transaction holds at most 500 writes."""


class BinDeps(Protocol):
    """What the bin needs."""

    @property
    def clock(self) -> Clock: ...
    @property
    def stores(self) -> Stores: ...
    @property
    def quotas(self) -> Quotas: ...
    @property
    def index(self) -> LibraryIndex: ...
    @property
    def tasks(self) -> Tasks: ...


async def move_to_bin(deps: BinDeps, uid: UserId, kind: BinKind, record_id: str) -> BinEntry:
    """Move a record to the bin; a repeat returns what lies there. Raises NotFound, Conflict and TooLarge."""
    moves = {
        "conversations": _move_conversation,
        "memories": _move_memory,
        "action_items": _move_task,
    }
    now = deps.clock.now()
    try:
        return await moves[kind](deps, uid, record_id, now)
    except NotFound:
        entry = await deps.stores.bin_entries.find(uid, kind, record_id)
        if entry is None:
            raise
        return entry


async def restore(deps: BinDeps, uid: UserId, kind: BinKind, record_id: str) -> None:
    """Bring a record back as it was. Raises NotFound once its thirty days are over."""
    entries, now = deps.stores.bin_entries, deps.clock.now()
    if kind == "conversations":
        parts = await entries.restore_conversation(uid, ConversationId(record_id), now=now)
        ids = [MemoryId(part.record_id) for part in parts if part.kind == "memories"]
        back = await deps.stores.memories.get_many(uid, ids)
        await _settle(deps, uid, [*back.values()])
    elif kind == "memories":
        await _settle(deps, uid, [await entries.restore_memory(uid, MemoryId(record_id), now=now)])
    else:
        task = await entries.restore_task(uid, record_id, now=now)
        await announce_tasks(deps, uid, [task] if task.due_at else [])


async def delete_from_bin(deps: BinDeps, uid: UserId, kind: BinKind, record_id: str) -> None:
    """Delete an entry for good. Raises NotFound."""
    now = deps.clock.now()
    freed = await deps.stores.bin_entries.drop(uid, kind, record_id, now=now)
    if freed is None:
        raise NotFound("This is not in the bin.")
    await deps.quotas.give_back(uid, "stored_bytes", freed, now=now)


async def _move_conversation(deps: BinDeps, uid: UserId, record_id: str, now: datetime) -> BinEntry:
    """Move a conversation; a merge that made it is final then."""
    stores, conversation_id = deps.stores, ConversationId(record_id)
    conversation = await stores.conversations.get_stored(uid, conversation_id)
    await stores.merges.finish(uid, conversation_id)
    memories = [
        memory
        for memory in await stores.memories.list_for_conversation(uid, conversation_id)
        if not (memory.is_user_owned or memory.seen_in)
    ]
    corrected = await stores.memories.list_superseded_by(uid, [memory.id for memory in memories])
    build = partial(BinEntry, title="", binned_at=now, taken_by=conversation_id)
    parts = [
        build(kind="memories", record_id=memory.id, corrected=_list_corrected(memory, corrected))
        for memory in memories
    ]
    parts += [
        build(kind="action_items", record_id=task.id)
        for task in await stores.action_items.list_for_conversation(uid, conversation_id)
        if not task.is_user_owned
    ]
    parts += [
        build(kind="recordings", record_id=name)
        async for name in _iterate_sound(deps, uid, record_id)
    ]
    if len(parts) > MAX_PARTS:
        raise TooLarge("This conversation has too many parts for the bin. Delete it instead.")
    entry = BinEntry(
        kind="conversations",
        record_id=record_id,
        title=conversation.structured.title,
        binned_at=now,
        due_at=await _find_end(deps, uid, conversation, now),
    )
    current = restore_superseded(corrected, memories)
    also = build_restore_writes(uid, current)
    await stores.bin_entries.move_conversation(uid, entry, parts, also=also)
    await deps.index.remove_memories(uid, [memory.id for memory in memories])
    await index_memories(stores.memories, deps.index, uid, current)
    return entry


async def _iterate_sound(deps: BinDeps, uid: UserId, record_id: str) -> AsyncIterator[str]:
    """Yield the recordings of a conversation. Raises Conflict while one is being transcribed."""
    recordings = deps.stores.recordings
    own = await recordings.list_of_conversation(uid, record_id)
    unheard = await recordings.list_unheard_of(uid, ConversationId(record_id))
    if any(each.status == "transcribing" for each in (*own, *unheard)):
        raise Conflict(BEING_RECORDED)
    for recording in own:
        yield recording.id


async def _find_end(
    deps: BinDeps, uid: UserId, conversation: Conversation, now: datetime
) -> datetime:
    """Return when a conversation leaves the bin: no later than its owner lets transcripts be deleted."""
    profile = await deps.stores.profiles.get(uid)
    if not profile.retention_days or conversation.has_deleted_transcript:
        return now + BIN_TTL
    end = conversation.created_at + timedelta(days=profile.retention_days)
    return min(now + BIN_TTL, max(end, now + timedelta(days=1)))


async def _move_memory(deps: BinDeps, uid: UserId, record_id: str, now: datetime) -> BinEntry:
    entry = BinEntry(
        kind="memories", record_id=record_id, title="", binned_at=now, due_at=now + BIN_TTL
    )

    def keep(memory: Memory, corrected: Sequence[Memory]) -> Write:
        behind = _list_corrected(memory, corrected)
        kept = replace(entry, title=memory.said_to_owner, corrected=behind)
        return build_entry_write(uid, kept, dump(memory))

    memory = await delete_memory(deps.stores.memories, deps.index, uid, record_id, keep)
    return replace(entry, title=memory.said_to_owner)


async def _move_task(deps: BinDeps, uid: UserId, record_id: str, now: datetime) -> BinEntry:
    task: ActionItem = await deps.stores.action_items.get(uid, record_id)
    entry = BinEntry(
        kind="action_items",
        record_id=task.id,
        title=task.description,
        binned_at=now,
        due_at=now + BIN_TTL,
    )
    kept = build_entry_write(uid, entry, dump(task))
    await deps.stores.action_items.delete_with_tombstone(uid, task, also=[kept])
    await announce_tasks(deps, uid, [task] if task.due_at else [], "action_item_delete")
    return entry


def _list_corrected(memory: Memory, corrected: Sequence[Memory]) -> dict[MemoryId, datetime | None]:
    return {old.id: old.valid_to for old in corrected if old.superseded_by == memory.id}


async def _settle(deps: BinDeps, uid: UserId, back: Sequence[Memory]) -> None:
    """Index memories that came back, and decide between them and what was learnt meanwhile."""
    current = [memory for memory in back if memory.is_current]
    await index_memories(deps.stores.memories, deps.index, uid, back)
    found = await deps.stores.memories.find_conflicting(uid, current) if current else []
    await settle_memories(deps.stores.documents, deps.index, uid, current, found)
