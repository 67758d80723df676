"""A deleted conversation takes along what was derived from it, but nothing of the owner's own."""

from contextlib import suppress

from functions.process_conversation.claims import Superseded
from functions.process_conversation.derived import removal, revivals, revived, unheard
from functions.process_conversation.wiring import ProcessDeps
from shared.data.conversations import conversation_path
from shared.domain.claim import Claim
from shared.domain.documents import Delete, Query, Where, Write
from shared.domain.errors import Unavailable
from shared.domain.ids import ConversationId, UserId

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
    derived = [memory for memory in memories if not memory.is_owners]
    gone = [memory for memory in derived if not memory.seen_in]
    names = {memory.id for memory in gone}
    back = revived(await deps.memories.superseded_by(uid, sorted(names)), gone)
    spared = {memory.id for memory in memories} - names
    await deps.index.remove(uid, conversation_id, claim.chunk_count)
    await deps.index.remove_memories(uid, sorted({*claim.memory_ids, *names} - spared))
    await deps.index.put_memories(uid, [memory for memory in back if memory.is_current])
    writes = await _writes(deps, uid, conversation_id)
    await deps.claims.forget(uid, conversation_id, claim, [*writes, *revivals(uid, back)])


async def _writes(deps: ProcessDeps, uid: UserId, conversation_id: ConversationId) -> list[Write]:
    path = conversation_path(uid, conversation_id)
    owned = Where("conversation_id", "==", conversation_id)
    heard = Where("seen_in", "array_contains", conversation_id)
    derived = [
        document
        for name in ("memories", "action_items")
        for document in await deps.documents.query(
            Query(collection=f"users/{uid}/{name}", where=(owned,), limit=_MOST)
        )
    ]
    repeated = await deps.documents.query(
        Query(collection=f"users/{uid}/memories", where=(heard,), limit=_MOST)
    )
    beside = [
        document.path
        for name in _BESIDE
        for document in await deps.documents.query(
            Query(collection=f"{path}/{name}", limit=_MOST, fields=("content_hash",))
        )
    ]
    removals = [removal(document, conversation_id) for document in derived]
    return [
        *(write for write in removals if write),
        *(unheard(document, conversation_id) for document in repeated),
        *map(Delete, beside),
    ]
