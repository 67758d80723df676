"""A deleted conversation takes along what was derived from it, but nothing of the owner's own."""

from contextlib import suppress

from functions.process_conversation.claims import Superseded
from functions.process_conversation.derived import removal, revivals, revived, unheard
from functions.process_conversation.memory_rows import put_rows
from functions.process_conversation.wiring import ProcessDeps
from shared.data.codec import load_all
from shared.data.conversations import conversation_path
from shared.domain.claim import Claim
from shared.domain.documents import Delete, Document, Query, Where, Write
from shared.domain.errors import PreconditionFailed, Unavailable
from shared.domain.ids import ConversationId, UserId
from shared.domain.memory import Memory

_BELOW = ("answers", "forgotten", "parts")
_MOST = 200


async def forget(
    deps: ProcessDeps, uid: UserId, conversation_id: ConversationId, claim: Claim
) -> None:
    """Remove rows first, then documents: whatever is left is found again by the next call.

    Raises Unavailable when the conversation was stored again meanwhile: it is indexed anew; and when
    the owner or another conversation changed what was derived: the next call looks at it again.
    """
    try:
        await _forget(deps, uid, conversation_id, claim)
    except (Superseded, PreconditionFailed, Unavailable) as cut:
        with suppress(Unavailable):
            await deps.claims.give_back(uid, conversation_id, claim)
        raise Unavailable("The conversation could not be forgotten yet") from cut


async def _forget(
    deps: ProcessDeps, uid: UserId, conversation_id: ConversationId, claim: Claim
) -> None:
    derived = await _derived(deps, uid, conversation_id)
    memories = load_all(Memory, [one for one in derived if "/memories/" in one.path])
    gone = [memory for memory in memories if not memory.is_owners and not memory.seen_in]
    kept = [memory for memory in memories if memory not in gone]
    back = revived(await deps.memories.superseded_by(uid, [one.id for one in gone]), gone)
    stale = {*claim.memory_ids, *(memory.id for memory in gone)} - {one.id for one in kept}
    await deps.index.remove(uid, conversation_id, claim.chunk_count)
    await deps.index.remove_memories(uid, sorted(stale))
    await deps.index.put_memories(uid, [memory for memory in back if memory.is_current])
    await put_rows(deps.memories, deps.index, uid, kept)
    removals = [removal(document, conversation_id) for document in derived]
    writes = [write for write in removals if write]
    writes += await _beside(deps, uid, conversation_id)
    await deps.claims.forget(uid, conversation_id, claim, [*writes, *revivals(uid, back)])


async def _derived(
    deps: ProcessDeps, uid: UserId, conversation_id: ConversationId
) -> list[Document]:
    owned = Where("conversation_id", "==", conversation_id)
    return [
        document
        for name in ("memories", "action_items")
        for document in await deps.documents.query(
            Query(collection=f"users/{uid}/{name}", where=(owned,), limit=_MOST)
        )
    ]


async def _beside(deps: ProcessDeps, uid: UserId, conversation_id: ConversationId) -> list[Write]:
    """Return what removes the rest: what other memories heard here, and what stood below it."""
    heard = Where("seen_in", "array_contains", conversation_id)
    repeated = await deps.documents.query(
        Query(collection=f"users/{uid}/memories", where=(heard,), limit=_MOST)
    )
    path = conversation_path(uid, conversation_id)
    below = [
        document.path
        for name in _BELOW
        for document in await deps.documents.query(
            Query(collection=f"{path}/{name}", limit=_MOST, fields=("content_hash",))
        )
    ]
    return [*(unheard(document, conversation_id) for document in repeated), *map(Delete, below)]
