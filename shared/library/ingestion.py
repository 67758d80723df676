"""Ingestion: a conversation is counted towards the quotas of its owner before it is stored.

Also called: ingest pipeline.
"""

from collections.abc import Sequence
from dataclasses import replace

from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.owner_marking import mark_owner
from shared.domain.errors import CallerError, PreconditionFailed
from shared.domain.ids import UserId
from shared.domain.store.documents import Write
from shared.library.deps import IngestionDeps


async def ingest(
    deps: IngestionDeps,
    uid: UserId,
    conversation: Conversation,
    *,
    also: Sequence[Write] = (),
    is_counted: bool = False,
) -> Conversation:
    """Store a conversation once and return what is stored; its speakers with own names are the owner.

    The writes `also` are made with a new one. A repeat takes up no more room. The text of one that
    `is_counted` was counted as new while it came. Raises QuotaExceeded, Conflict for other content under its id, and PreconditionFailed by `also`.
    """
    profile = await deps.stores.profiles.get(uid)
    conversation = mark_owner(conversation, profile.own_names)
    now, text_bytes = deps.clock.now(), conversation.count_text_bytes()
    stored_bytes = text_bytes + conversation.count_photo_bytes()
    await deps.quotas.take(uid, "stored_bytes", stored_bytes, now=now)
    try:
        if not is_counted:
            await deps.quotas.take(uid, "ingested_bytes", text_bytes, now=now)
        stored, is_new = await deps.stores.conversations.add_once(
            uid, replace(conversation, text_bytes=text_bytes, listed_at=now), also=also
        )
    except (CallerError, PreconditionFailed):
        await deps.quotas.give_back(uid, "stored_bytes", stored_bytes, now=now)
        raise
    if not is_new:
        await deps.quotas.give_back(uid, "stored_bytes", stored_bytes, now=now)
    return stored


async def ingest_more(
    deps: IngestionDeps,
    uid: UserId,
    before: Conversation,
    after: Conversation,
    *,
    also: Sequence[Write],
) -> None:
    """Store a conversation that grew, with the writes `also`; it is processed again.

    Raises QuotaExceeded, NotFound, Conflict where its words changed meanwhile, and PreconditionFailed by `also`.
    """
    now = deps.clock.now()
    added_bytes = after.count_text_bytes() - before.count_text_bytes()
    await deps.quotas.take(uid, "stored_bytes", added_bytes, now=now)
    try:
        await deps.quotas.take(uid, "ingested_bytes", added_bytes, now=now)
        grown = replace(after, listed_at=now)
        await deps.stores.transcript_edits.extend(uid, before, grown, also=also, now=now)
    except (CallerError, PreconditionFailed):
        await deps.quotas.give_back(uid, "stored_bytes", added_bytes, now=now)
        raise
