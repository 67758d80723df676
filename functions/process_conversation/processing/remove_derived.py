"""Removal of derived data: a deleted conversation's rows, tasks and memories, but nothing of its owner's.

Of one in the bin, what it needs to come back stays: its content, its claim, and the marks of what its owner deleted.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from functions.process_conversation.deps import ProcessDeps
from functions.process_conversation.processing.claims import Superseded
from functions.process_conversation.processing.derived_writes import (
    build_removal,
    list_forgotten_memories,
    remove_mention,
)
from shared.data.account.bin_entries import bin_path
from shared.data.conversations.announcements import claim_path, parse_claim
from shared.data.conversations.conversations import conversation_path, list_paths_below
from shared.data.store.codec import dump, load_all
from shared.domain.conversations.claim import Claim, finish
from shared.domain.errors import PreconditionFailed, Unavailable
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Delete, Document, Query, Set, Where, Write
from shared.domain.tasks.action_item import ActionItem
from shared.library.memory_index import index_memories
from shared.library.recordings import forget_sound_of, forget_unheard_of
from shared.library.superseded import build_restore_writes, restore_superseded
from shared.library.task_reminders import announce_tasks
from shared.ports import Transaction

_BATCH_SIZE = 400
"""Writes at once; Firestore takes 500."""


async def remove_derived(
    deps: ProcessDeps, uid: UserId, conversation_id: ConversationId, claim: Claim
) -> None:
    """Remove rows first, then documents: an interrupted removal is completed by the next call.

    Raises Unavailable if the conversation was stored again meanwhile, or if its owner or another
    conversation changed what is to be removed.
    """
    try:
        async with deps.claims.keep_extending(uid, conversation_id, claim.attempt):
            await _remove_rows_and_documents(deps, uid, conversation_id, claim)
    except (Superseded, PreconditionFailed, Unavailable) as error:
        with suppress(Unavailable):
            await deps.claims.release(uid, conversation_id, claim)
        raise Unavailable(
            "What is derived from the conversation could not be removed yet"
        ) from error


async def _remove_rows_and_documents(
    deps: ProcessDeps, uid: UserId, conversation_id: ConversationId, claim: Claim
) -> None:
    is_binned = await deps.stores.documents.get(bin_path(uid, conversation_id)) is not None
    await forget_sound_of(deps, uid, conversation_id)
    await forget_unheard_of(deps, uid, conversation_id)
    derived_documents = await _load_derived(deps, uid, conversation_id)
    memories = load_all(
        Memory, [document for document in derived_documents if "/memories/" in document.path]
    )
    removed_memories = [
        memory for memory in memories if not memory.is_user_owned and not memory.seen_in
    ]
    kept_memories = [memory for memory in memories if memory not in removed_memories]
    written = await deps.stores.memories.get_many(uid, claim.memory_ids)
    kept_memories += [memory for memory in written.values() if memory.conversation_id is None]
    restored_memories = restore_superseded(
        await deps.stores.memories.list_superseded_by(
            uid, [memory.id for memory in removed_memories]
        ),
        removed_memories,
    )
    tombstones = await deps.stores.merges.read_tombstones(uid, conversation_id)
    stale_ids = {
        *claim.memory_ids,
        *list_forgotten_memories(tombstones),
        *(memory.id for memory in removed_memories),
    } - {memory.id for memory in kept_memories}
    await deps.index.remove(uid, conversation_id, claim.chunk_count)
    await deps.index.remove_memories(uid, sorted(stale_ids))
    await deps.index.put_memories(uid, restored_memories)
    await index_memories(deps.stores.memories, deps.index, uid, kept_memories)
    removals = [build_removal(document, conversation_id) for document in derived_documents]
    # What is restored is found by what is removed, so it comes first.
    writes: list[Write] = [*build_restore_writes(uid, restored_memories)]
    writes += [write for write in removals if write]
    writes += await _build_mention_removals(deps, uid, conversation_id)
    if not is_binned:
        paths = await list_paths_below(
            deps.stores.documents, conversation_path(uid, conversation_id)
        )
        writes += map(Delete, paths)
        if not await _is_undone(deps, uid, conversation_id):
            writes += [Delete(tombstone.path) for tombstone in tombstones]
    await _delete_derived(deps, uid, conversation_id, claim, writes, stale_ids, is_binned=is_binned)
    await _announce_removed_tasks(deps, uid, derived_documents)


async def _is_undone(deps: ProcessDeps, uid: UserId, conversation_id: ConversationId) -> bool:
    """Tell whether its sources are back: they take over what its owner deleted of it."""
    merge = await deps.stores.merges.find(uid, conversation_id)
    return merge is not None and merge.state == "undone"


async def _delete_derived(
    deps: ProcessDeps,
    uid: UserId,
    conversation_id: ConversationId,
    claim: Claim,
    writes: Sequence[Write],
    removed_ids: Collection[MemoryId],
    *,
    is_binned: bool,
) -> None:
    """Apply the writes that remove what was derived, in batches; with the last, its write lease ends.

    The claim goes with its last write lease, but for one in the bin. One that stays lists `removed_ids`, memories
    whose rows may still be written. Raises Superseded if the conversation exists again, or came into the bin or left it.
    """
    path = conversation_path(uid, conversation_id)
    stored_claim_path = claim_path(uid, conversation_id)

    async def work(tx: Transaction, *, batch: Sequence[Write], is_last: bool) -> None:
        paths = [path, stored_claim_path, bin_path(uid, conversation_id)]
        document, claim_document, entry = await tx.get_many(paths)
        if document is not None or (entry is not None) != is_binned:
            raise Superseded
        stored_claim = parse_claim(claim_document) or claim
        ids = sorted({*stored_claim.memory_ids, *removed_ids})
        remaining_claim = replace(stored_claim, memory_ids=tuple(ids))
        if is_last:
            remaining_claim = finish(remaining_claim, claim.attempt, deps.clock.now())
        tx.write(*batch)
        tx.write(
            Set(stored_claim_path, dump(remaining_claim))
            if remaining_claim.writing or is_binned
            else Delete(stored_claim_path)
        )

    for n in range(0, max(len(writes), 1), _BATCH_SIZE):
        batch, is_last = writes[n : n + _BATCH_SIZE], n + _BATCH_SIZE >= len(writes)
        await deps.stores.documents.transaction(partial(work, batch=batch, is_last=is_last))


async def _announce_removed_tasks(
    deps: ProcessDeps, uid: UserId, derived_documents: Sequence[Document]
) -> None:
    """Let the owner's phones drop the reminders of removed tasks; of kept ones they hear nothing new."""
    tasks = [d for d in derived_documents if "/action_items/" in d.path]
    dated = [task for task in load_all(ActionItem, tasks) if task.due_at]
    await announce_tasks(deps, uid, dated, "action_item_delete")


async def _load_derived(
    deps: ProcessDeps, uid: UserId, conversation_id: ConversationId
) -> list[Document]:
    origin_filter = Where("conversation_id", "==", conversation_id)
    return [
        document
        for name in ("memories", "action_items")
        for document in await deps.stores.documents.query(
            Query(collection=f"users/{uid}/{name}", where=(origin_filter,))
        )
    ]


async def _build_mention_removals(
    deps: ProcessDeps, uid: UserId, conversation_id: ConversationId
) -> list[Write]:
    """Return the writes that remove mentions of a conversation in other memories."""
    mention_filter = Where("seen_in", "array_contains", conversation_id)
    mentioning_documents = await deps.stores.documents.query(
        Query(collection=f"users/{uid}/memories", where=(mention_filter,))
    )
    return [remove_mention(document, conversation_id) for document in mentioning_documents]
