"""A deleted conversation takes along what was derived from it, but nothing of the owner's own."""

from collections.abc import Sequence

from functions.process_conversation.wiring import ProcessDeps
from shared.data.conversations import conversation_path
from shared.data.memories import memory_path
from shared.data.tasks import action_item_path
from shared.domain.documents import Delete, Query
from shared.domain.errors import Unavailable
from shared.domain.ids import ConversationId, UserId
from shared.domain.memory import Memory
from shared.ports import Transaction

_BESIDE = ("answers", "forgotten", "parts")
_MOST = 200


async def forget(
    deps: ProcessDeps, uid: UserId, conversation_id: ConversationId, chunk_count: int
) -> None:
    """Remove vectors first, then documents: whatever is left is found again by the next call.

    A conversation that was stored again meanwhile is processed anew: raises Unavailable.
    """
    memories = await deps.memories.of_conversation(uid, conversation_id)
    derived = [memory for memory in memories if not memory.is_owners]
    await deps.index.remove(uid, conversation_id, chunk_count)
    await deps.index.remove_memories(uid, [memory.id for memory in derived])
    paths = await _paths(deps, uid, conversation_id, derived)
    if not await _delete_while_gone(deps, conversation_path(uid, conversation_id), paths):
        await deps.claims.reopen(uid, conversation_id)
        raise Unavailable("The conversation was stored again")


async def _paths(
    deps: ProcessDeps, uid: UserId, conversation_id: ConversationId, memories: Sequence[Memory]
) -> list[str]:
    path = conversation_path(uid, conversation_id)
    items = await deps.action_items.of_conversation(uid, conversation_id)
    beside = [
        document.path
        for name in _BESIDE
        for document in await deps.documents.query(
            Query(collection=f"{path}/{name}", limit=_MOST, fields=("content_hash",))
        )
    ]
    return [
        *(memory_path(uid, memory.id) for memory in memories),
        *(action_item_path(uid, item.id) for item in items if not item.is_owners),
        *beside,
    ]


async def _delete_while_gone(deps: ProcessDeps, path: str, paths: Sequence[str]) -> bool:
    async def work(tx: Transaction) -> bool:
        gone = await tx.get(path) is None
        if gone:
            tx.write(*map(Delete, paths))
        return gone

    return await deps.documents.transaction(work)
