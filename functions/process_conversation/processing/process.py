"""Processing of a conversation: claim, extract, save, index and publish; idempotent."""

from contextlib import suppress

from functions.process_conversation.deps import ProcessDeps
from functions.process_conversation.processing.claims import Superseded
from functions.process_conversation.processing.draft import Draft, apply_draft
from functions.process_conversation.processing.extract_content import extract_content
from functions.process_conversation.processing.remove_derived import remove_derived
from shared import telemetry
from shared.data.codec import MalformedDocument
from shared.data.conversations import IncompleteTranscript
from shared.domain.claim import Claim
from shared.domain.conversation import Conversation, content_hash
from shared.domain.errors import Invalid, ModelFailed, Unavailable
from shared.domain.ids import ConversationId, UserId
from shared.library.memory_index import sync_rows

CONVERSATION_PROCESSED_TOPIC = "conversation.processed"


async def process(
    deps: ProcessDeps,
    uid: UserId,
    conversation_id: ConversationId,
    *,
    message_hash: str | None = None,
) -> None:
    """Bring what is derived from a conversation in line with what is stored now.

    The message is only the occasion, so neither order nor repetition matters. `message_hash` is the
    content hash in the message, None for a deletion. Raises Unavailable: call again.
    """
    try:
        claimed = await deps.claims.acquire(uid, conversation_id, message_hash=message_hash or "")
    except MalformedDocument:
        telemetry.add_fields(outcome="malformed")
        return await deps.claims.mark_malformed(uid, conversation_id)
    if isinstance(claimed, Claim):
        return await remove_derived(deps, uid, conversation_id, claimed)
    if claimed.held_by is None or await _run_attempt(deps, uid, claimed, claimed.held_by):
        await _publish_processed(deps, uid, claimed)
    return None


async def _run_attempt(deps: ProcessDeps, uid: UserId, claimed: Conversation, claim: Claim) -> bool:
    """Return whether this attempt completed the conversation."""
    try:
        conversation = await deps.stores.conversations.load_transcript(uid, claimed)
        draft = await extract_content(deps, uid, conversation)
        draft = await deps.claims.save(uid, claimed, draft)
        await _index(deps, uid, apply_draft(conversation, draft), draft)
    except Superseded as error:  # the message must come again to see how the other attempt ends
        telemetry.add_fields(outcome="superseded")
        raise Unavailable("Another attempt works on the conversation") from error
    except ModelFailed:
        await _mark_failed(deps, uid, claimed, "The language model gave no usable answer.")
        return False
    except Invalid as error:  # too large for a document
        await _mark_failed(deps, uid, claimed, str(error))
        return False
    except IncompleteTranscript as error:
        # The user is told: the missing part may never arrive.
        await _mark_failed(deps, uid, claimed, str(error))
        raise
    except Unavailable:
        with suppress(Unavailable):
            await deps.claims.release(uid, claimed.id, claim)
        raise
    return True


async def _index(deps: ProcessDeps, uid: UserId, conversation: Conversation, draft: Draft) -> None:
    """Write the rows, then complete. Raises Unavailable if the conversation changed meanwhile."""
    stale_ids = [*draft.stale_row_ids, *(correction.old.id for correction in draft.corrections)]
    if stale_ids:
        await deps.index.remove_memories(uid, stale_ids)
    await deps.index.put_memories(uid, draft.restored_memories)
    if draft.discarded:
        await deps.index.remove(uid, conversation.id, conversation.chunk_count)
    else:
        await deps.index.put(uid, conversation, draft.memories)
    await sync_rows(deps.stores.memories, deps.index, uid, draft.memories)
    try:
        await deps.claims.complete(uid, conversation, draft)
    except Superseded as error:
        raise Unavailable("The conversation changed while it was indexed") from error


async def _mark_failed(deps: ProcessDeps, uid: UserId, claimed: Conversation, reason: str) -> None:
    telemetry.add_fields(outcome="failed")
    with suppress(Superseded):
        await deps.claims.fail(uid, claimed, reason)


async def _publish_processed(deps: ProcessDeps, uid: UserId, conversation: Conversation) -> None:
    claim = conversation.held_by
    processed_hash = claim.content_hash if claim else content_hash(conversation)
    event = {"uid": uid, "conversation_id": conversation.id, "content_hash": processed_hash}
    await deps.events.publish(CONVERSATION_PROCESSED_TOPIC, event)
