"""Deletion of a conversation: what was learnt from it goes along, or stays without a source."""

from contextlib import suppress

from shared.data.memories.memories import Memories
from shared.data.tasks.action_items import ActionItems
from shared.domain.errors import NotFound
from shared.domain.ids import ConversationId, UserId
from shared.library.deps import IngestionDeps


async def delete_conversation(
    deps: IngestionDeps,
    uid: UserId,
    conversation_id: ConversationId,
    *,
    keeps_memories: bool = True,
    keeps_tasks: bool = True,
) -> None:
    """Delete the document, and so every search hit, at once; the trigger removes what was derived.

    From the bin as well. Raises NotFound.
    """
    stores, now = deps.stores, deps.clock.now()
    freed = await stores.bin_entries.drop(uid, "conversations", conversation_id, now=now)
    if freed is not None:
        await deps.quotas.give_back(uid, "stored_bytes", freed, now=now)
        return
    with suppress(NotFound):  # an earlier attempt deleted it: the rest may be there still
        await stores.conversations.check_exists(uid, conversation_id)
        if keeps_memories:
            await _keep_memories(stores.memories, uid, conversation_id)
        if keeps_tasks:
            await _keep_tasks(stores.action_items, uid, conversation_id)
    text_bytes = await stores.conversations.delete(uid, conversation_id, now=now)
    await deps.quotas.give_back(uid, "stored_bytes", text_bytes, now=now)
    await stores.merges.finish(uid, conversation_id)


async def _keep_memories(memories: Memories, uid: UserId, conversation_id: ConversationId) -> None:
    """Pass each memory on to a conversation that repeats it, or to none; without its evidence."""
    while found := await memories.list_by_values(uid, "conversation_id", [conversation_id]):
        for memory in found:
            others = tuple(name for name in memory.seen_in if name != conversation_id)
            source = {"conversation_id": next(iter(others), None), "seen_in": others[1:]}
            with suppress(NotFound):  # deleted meanwhile
                await memories.change(uid, memory.id, **source, evidence="", segment=None)


async def _keep_tasks(tasks: ActionItems, uid: UserId, conversation_id: ConversationId) -> None:
    while found := await tasks.list_by_values(uid, "conversation_id", [conversation_id]):
        for task in found:
            with suppress(NotFound):  # deleted meanwhile
                await tasks.change(uid, task.id, conversation_id=None)
