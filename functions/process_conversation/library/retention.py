"""Retention: transcripts older than their owner keeps them lose their text; their structure stays."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta

from functions.process_conversation.deps import RetentionDeps
from shared import telemetry
from shared.domain.conversation import Conversation
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.library.recordings import forget_sound_of
from shared.library.retention_schedule import schedule_retention

INTERVAL = timedelta(days=1)
PAGE_SIZE = 100


async def apply_retention(deps: RetentionDeps, uid: UserId, *, set_at: datetime) -> None:
    """Delete the text of old transcripts, and schedule the next time first.

    An interrupted run is completed by the next delivery, and a repeated one finds nothing to do. One
    of a setting that was changed since does nothing. Raises Unavailable: call again.
    """
    profile, now = await deps.stores.profiles.get(uid), deps.clock.now()
    if not profile.retention_days or profile.retention_set_at != set_at:
        return
    await schedule_retention(deps.tasks, uid, profile, at=now + INTERVAL)
    count = 0
    before = now - timedelta(days=profile.retention_days)
    async for conversation in _iterate_older(deps, uid, before):
        count += await _delete_transcript(deps, uid, conversation)
    telemetry.add_fields(transcripts_deleted=count)


async def _iterate_older(
    deps: RetentionDeps, uid: UserId, before: datetime
) -> AsyncIterator[Conversation]:
    """Yield conversations whose text is stored and that are older than `before`."""
    after = None
    while True:
        page = await deps.stores.conversations.list_page(
            uid, limit=PAGE_SIZE, after=after, before=before
        )
        for conversation in page.items:
            if conversation.transcript_deleted_at is None:
                yield conversation
        if page.next is None:
            return
        after = page.next


async def _delete_transcript(deps: RetentionDeps, uid: UserId, conversation: Conversation) -> bool:
    """Delete the sound, the rows, then the text; False for a conversation that is being processed.

    The next day makes up for one that is left out.
    """
    await forget_sound_of(deps, uid, conversation.id)
    await deps.index.remove_chunks(uid, conversation.id, conversation.chunk_count)
    try:
        freed = await deps.claims.delete_transcript(uid, conversation.id)
    except Unavailable as error:
        telemetry.warning("transcript_not_deleted", error=type(error).__name__)
        return False
    await deps.quotas.give_back(uid, "stored_bytes", freed, now=deps.clock.now())
    return True
