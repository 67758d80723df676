"""A conversation is claimed, understood, saved, indexed and announced; again leads to the same end."""

from contextlib import suppress

from functions.process_conversation.claims import Superseded
from functions.process_conversation.draft import Draft, with_draft
from functions.process_conversation.forget import forget
from functions.process_conversation.memory_rows import agree
from functions.process_conversation.understand import understand
from functions.process_conversation.wiring import ProcessDeps
from shared import telemetry
from shared.data.codec import Malformed
from shared.data.conversations import Incomplete
from shared.domain.claim import Claim
from shared.domain.conversation import Conversation, content_hash
from shared.domain.errors import Invalid, ModelFailed, Unavailable
from shared.domain.ids import ConversationId, UserId

PROCESSED = "conversation.processed"


async def process(
    deps: ProcessDeps, uid: UserId, conversation_id: ConversationId, *, said: str | None = None
) -> None:
    """Bring what is derived from a conversation in line with what is stored now.

    What a message said is only the occasion, so that neither order nor repetition matters; its hash
    `said` tells it from others, None for a deletion. Raises Unavailable: call again.
    """
    try:
        found = await deps.claims.take(uid, conversation_id, said=said or "")
    except Malformed:
        telemetry.note(outcome="malformed")
        return await deps.claims.refuse(uid, conversation_id)
    if isinstance(found, Claim):
        return await forget(deps, uid, conversation_id, found)
    if found.held_by is None or await _finish(deps, uid, found, found.held_by):
        await _announce(deps, uid, found)
    return None


async def _finish(deps: ProcessDeps, uid: UserId, claimed: Conversation, claim: Claim) -> bool:
    """Return whether this attempt put everything in place."""
    try:
        conversation = await deps.conversations.with_transcript(uid, claimed)
        draft = await understand(deps, uid, conversation)
        draft = await deps.claims.save(uid, claimed, draft)
        await _index(deps, uid, with_draft(conversation, draft), draft)
    except Superseded as overtaken:  # not for us to say that all is well: the next delivery looks
        telemetry.note(outcome="superseded")
        raise Unavailable("Another attempt works on the conversation") from overtaken
    except ModelFailed:
        await _give_up(deps, uid, claimed, "The language model gave no usable answer.")
        return False
    except Invalid as refusal:  # it fits into no document, or what was made of it does not
        await _give_up(deps, uid, claimed, str(refusal))
        return False
    except Incomplete as missing:  # told, since nobody knows whether the part will ever come
        await _give_up(deps, uid, claimed, str(missing))
        raise
    except Unavailable:
        with suppress(Unavailable):
            await deps.claims.give_back(uid, claimed.id, claim)
        raise
    return True


async def _index(deps: ProcessDeps, uid: UserId, conversation: Conversation, draft: Draft) -> None:
    """Write the rows, then complete. Raises Unavailable if that was too late: rows may be wrong."""
    gone = [*draft.stale_rows, *(correction.old.id for correction in draft.corrections)]
    if gone:
        await deps.index.remove_memories(uid, gone)
    await deps.index.put_memories(uid, [one for one in draft.revived if one.is_current])
    if draft.discarded:
        await deps.index.remove(uid, conversation.id, conversation.chunk_count)
    else:
        current = [memory for memory in draft.memories if memory.is_current]
        await deps.index.put(uid, conversation, current)
    await agree(deps.memories, deps.index, uid, draft.memories)
    try:
        await deps.claims.complete(uid, conversation, draft)
    except Superseded as late:
        raise Unavailable("The conversation changed while it was indexed") from late


async def _give_up(deps: ProcessDeps, uid: UserId, claimed: Conversation, reason: str) -> None:
    telemetry.note(outcome="failed")
    with suppress(Superseded):
        await deps.claims.fail(uid, claimed, reason)


async def _announce(deps: ProcessDeps, uid: UserId, conversation: Conversation) -> None:
    claim = conversation.held_by
    said = claim.content_hash if claim else content_hash(conversation)
    event = {"uid": uid, "conversation_id": conversation.id, "content_hash": said}
    await deps.events.publish(PROCESSED, event)
