"""Ingestion: a conversation is counted towards the quotas of its owner before it is stored."""

from dataclasses import replace

from functions.process_conversation.deps import IntegrationDeps
from shared.domain.conversation import Conversation
from shared.domain.errors import CallerError
from shared.domain.ids import UserId


async def ingest(deps: IntegrationDeps, uid: UserId, conversation: Conversation) -> Conversation:
    """Store a conversation once and return what is stored.

    A repeat takes up no more room. Raises QuotaExceeded, and Conflict for other content under its id.
    """
    now, size = deps.clock.now(), conversation.count_text_bytes()
    await deps.quotas.take(uid, "stored_bytes", size, now=now)
    try:
        await deps.quotas.take(uid, "ingested_bytes", size, now=now)
        stored, is_new = await deps.stores.conversations.add_once(
            uid, replace(conversation, text_bytes=size)
        )
    except CallerError:
        await deps.quotas.give_back(uid, "stored_bytes", size, now=now)
        raise
    if not is_new:
        await deps.quotas.give_back(uid, "stored_bytes", size, now=now)
    return stored
