"""Storing of a draft: its memories before their rows are written, all else once these are in place."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from functions.process_conversation.deps import ProcessDeps
from functions.process_conversation.processing.claims import (
    Superseded,
    require_claim,
)
from functions.process_conversation.processing.derived_writes import (
    build_memory_writes,
    build_removal,
    build_tombstones,
    build_writes,
    derived_path,
    list_deleted_memories,
    merge_stored,
    remove_mentions,
)
from functions.process_conversation.processing.draft import Draft
from functions.process_conversation.processing.extracted_items import (
    follow_tasks,
    list_item_paths,
    list_tombstone_paths,
)
from shared.data.account.profiles import profile_path
from shared.data.conversations.announcements import claim_path
from shared.data.conversations.conversation_cache import CachedConversation
from shared.data.conversations.conversations import conversation_path, tombstone_path
from shared.data.conversations.long_transcripts import run_beside_the_loop
from shared.data.memories.memories import memory_path
from shared.data.store.codec import dump, load
from shared.domain.account.profile import Profile
from shared.domain.conversations.claim import Claim, finish, record_chunks
from shared.domain.conversations.conversation import Conversation, ExtractedItem, apply_edits
from shared.domain.conversations.derived_ids import identify_items
from shared.domain.errors import AlreadyExists
from shared.domain.ids import MemoryId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Document, Set, Update
from shared.domain.tasks.action_item import ActionItem
from shared.library.superseded import build_restore_writes
from shared.ports import Transaction


async def save_memories(
    deps: ProcessDeps, uid: UserId, claimed: Conversation, draft: Draft
) -> Draft:
    """Store the memories of a draft, and record its chunks, before rows are written. Raises Superseded.

    What its owner wrote or changed stays; the draft is returned as stored, without what they
    deleted, and without memories if they had all deleted since the transcript was first read. If
    this attempt dies, the next one knows its rows.
    """
    if _is_recorded(claimed, draft):
        return draft
    if claimed.is_untouched:  # nothing to read, but for what outlived an earlier conversation
        with suppress(AlreadyExists):
            return await _save(deps, uid, claimed, draft, ())
    return await _save(deps, uid, claimed, draft, draft.memories)


def _is_recorded(claimed: Conversation, draft: Draft) -> bool:
    """Tell whether a draft concerns no memory, and its claim knows all rows to come."""
    concerns_memories = bool(draft.memories or draft.corrections or draft.repeated_ids)
    return not concerns_memories and draft.chunk_count <= require_claim(claimed).chunk_count


async def _save(
    deps: ProcessDeps,
    uid: UserId,
    claimed: Conversation,
    draft: Draft,
    compared_memories: Sequence[Memory],
) -> Draft:
    """Store memories; `compared_memories` are those of them that may be stored, or deleted for good."""
    path = conversation_path(uid, claimed.id)
    memory_ids = [memory.id for memory in compared_memories]
    memory_ids += [correction.old.id for correction in draft.corrections]
    memory_ids += draft.repeated_ids
    paths = [
        *(tombstone_path(path, memory.id) for memory in compared_memories),
        *(memory_path(uid, memory_id) for memory_id in memory_ids),
        *([profile_path(uid)] if draft.memories else []),
    ]

    async def work(tx: Transaction, stored_claim: Claim) -> Draft:
        documents = await tx.get_many(paths) if paths else []
        tombstones = documents[: len(compared_memories)]
        others = documents[len(compared_memories) :]
        deleted_ids = {tombstone.id for tombstone in tombstones if tombstone}
        documents_by_path = {document.path: document for document in others if document}
        if _count_wipes(documents_by_path.get(profile_path(uid))) != stored_claim.wipes:
            deleted_ids |= {memory.id for memory in draft.memories}
            tx.write(*build_tombstones(path, draft.memories))
        stored_draft = merge_stored(draft.exclude_memories(deleted_ids), uid, documents_by_path)
        tx.write(*build_memory_writes(stored_draft, uid, documents_by_path, claimed.id))
        claim = record_chunks(stored_claim, stored_draft.chunk_count)
        if claim != stored_claim:
            tx.write(Set(claim_path(uid, claimed.id), dump(claim)))
        return stored_draft

    return await deps.claims.run_fenced(uid, claimed, work)


def _count_wipes(profile: Document | None) -> int:
    return load(Profile, profile).memory_wipes if profile else 0


async def complete_conversation(
    deps: ProcessDeps, uid: UserId, claimed: Conversation, draft: Draft
) -> Sequence[ActionItem]:
    """Store structure and tasks, and remove what is stale. Raises Superseded.

    The tasks are returned without those that their owner deleted; what they changed stays.
    """
    items = identify_items(claimed.id, draft.structured.action_items)
    draft = replace(draft, structured=replace(draft.structured, action_items=items))
    if claimed.is_untouched:  # no task to read, but for what outlived an earlier conversation
        with suppress(AlreadyExists):
            return await _complete(deps, uid, claimed, draft, ())
    return await _complete(deps, uid, claimed, draft, items)


async def _complete(
    deps: ProcessDeps,
    uid: UserId,
    claimed: Conversation,
    draft: Draft,
    compared_items: Sequence[ExtractedItem],
) -> Sequence[ActionItem]:
    """Complete; `compared_items` are those whose tasks may be stored, or deleted for good."""
    changes = await run_beside_the_loop([claimed], lambda: _build_completion(claimed, draft))
    stale_paths = [derived_path(uid, record) for record in draft.stale_values]
    repeated_paths = [memory_path(uid, memory_id) for memory_id in draft.unrepeated_ids]
    item_paths = list_item_paths(uid, compared_items)

    async def work(
        tx: Transaction, stored_claim: Claim, current: CachedConversation
    ) -> Sequence[ActionItem]:
        if current.conversation.summary_app != claimed.summary_app:
            raise Superseded  # its owner wants another summary
        paths = [*stale_paths, *repeated_paths, *item_paths]
        found = await tx.get_many(paths) if paths else []
        documents = found[: len(stale_paths)]
        repeated = found[len(stale_paths) : len(stale_paths) + len(repeated_paths)]
        tasks = found[len(stale_paths) + len(repeated_paths) :]
        gone_paths = list_tombstone_paths(uid, claimed.id, compared_items, tasks)
        tombstones = await tx.get_many(gone_paths) if gone_paths else []
        now = deps.clock.now()
        kept_items = follow_tasks(draft.structured.action_items, tasks, tombstones)
        structured = replace(draft.structured, action_items=kept_items)
        structured = apply_edits(structured, current.conversation.edits)
        times = _build_times(current.conversation, draft, now)
        fields = {**changes, **times, "structured": dump(structured), "listed_at": now}
        tx.write(Update(conversation_path(uid, claimed.id), fields))
        deleted_ids = {tombstone.id for tombstone in tombstones if tombstone}
        kept_tasks = [task for task in draft.action_items if task.id not in deleted_ids]
        tx.write(*build_writes(kept_tasks, uid, {task.path: task for task in tasks if task}))
        stale_writes = [build_removal(document, claimed.id) for document in documents if document]
        removals = [write for write in stale_writes if write]
        removals += remove_mentions(repeated, claimed.id)
        claim = _finish(stored_claim, draft, list_deleted_memories(removals), now)
        tx.write(*removals, Set(claim_path(uid, claimed.id), dump(claim)))
        tx.write(*build_restore_writes(uid, draft.restored_memories))
        return kept_tasks

    return await deps.claims.run_on_same_text(uid, claimed, work)


def _build_completion(claimed: Conversation, draft: Draft) -> Mapping[str, Any]:
    """Return the changes of a completed conversation that follow from its text and its draft alone."""
    return {
        "status": "completed",
        "failure": None,
        "waiting_since": None,
        "discarded": draft.discarded,
        "topics": dump(draft.topics),
        "dropped_memories": dict(draft.dropped_memories),
        "processed_hash": require_claim(claimed).content_hash,
        "chunk_count": draft.chunk_count,
        "text_bytes": claimed.count_text_bytes(),
        "figures": dump(claimed.measure()),
        "apps_results": [dump(result) for result in draft.apps_results],
        "suggested_summarization_apps": list(draft.suggested_apps),
        **({"transcript_deleted_at": None} if claimed.transcript_segments else {}),
    }


def _finish(
    stored_claim: Claim, draft: Draft, deleted_ids: Collection[MemoryId], now: datetime
) -> Claim:
    """End an attempt that deleted these memories."""
    claim = finish(stored_claim, stored_claim.attempt, now)
    if not claim.writing:  # no other attempt may add rows
        return replace(claim, chunk_count=draft.chunk_count, memory_ids=())
    stored_ids = {memory.id for memory in draft.memories}
    removed_ids = {*claim.memory_ids, *deleted_ids} - stored_ids
    return replace(claim, memory_ids=tuple(sorted(removed_ids)))


def _build_times(stored: Conversation, draft: Draft, now: datetime) -> Mapping[str, datetime]:
    """Return when it was processed and, if this is the first time, kept."""
    is_untimed = bool(stored.processed_hash) and stored.processed_at is None
    was_kept = stored.kept_at is not None or (is_untimed and not stored.discarded)
    times = {"processed_at": now}
    return times if draft.discarded or was_kept else {**times, "kept_at": now}
