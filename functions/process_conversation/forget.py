"""A deleted conversation takes along what was derived from it, but nothing of the owner's own."""

from collections.abc import Sequence
from contextlib import suppress

from functions.process_conversation.claims import Superseded
from functions.process_conversation.wiring import ProcessDeps
from shared.data.conversations import conversation_path
from shared.data.memories import memory_path
from shared.data.tasks import action_item_path
from shared.domain.claim import Claim
from shared.domain.documents import Query
from shared.domain.errors import Unavailable
from shared.domain.ids import ConversationId, UserId
from shared.domain.memory import Memory

_BESIDE = ("answers", "forgotten", "parts")
_MOST = 200


async def forget(
    deps: ProcessDeps, uid: UserId, conversation_id: ConversationId, claim: Claim
) -> None:
    """Remove rows first, then documents: whatever is left is found again by the next call.

    A conversation that was stored again meanwhile is indexed anew: raises Unavailable.
    """
    try:
        await _forget(deps, uid, conversation_id, claim)
    except (Superseded, Unavailable) as cut:
        with suppress(Unavailable):
            await deps.claims.give_back(uid, conversation_id, claim)
        raise Unavailable("The conversation could not be forgotten yet") from cut


async def _forget(
    deps: ProcessDeps, uid: UserId, conversation_id: ConversationId, claim: Claim
) -> None:
    memories = await deps.memories.of_conversation(uid, conversation_id)
    owners = {memory.id for memory in memories if memory.is_owners}
    derived = [memory for memory in memories if not memory.is_owners]
    await deps.index.remove(uid, conversation_id, claim.chunk_count)
    rows = {*claim.memory_ids, *(memory.id for memory in derived)} - owners
    await deps.index.remove_memories(uid, sorted(rows))
    paths = await _paths(deps, uid, conversation_id, derived)
    await deps.claims.forget(uid, conversation_id, claim, paths)


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
