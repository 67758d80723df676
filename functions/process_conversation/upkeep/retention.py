"""Retention: transcripts older than their owner keeps them lose their text; their structure stays.

Also called: data retention, data expiry, data purge.
"""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from functions.process_conversation.deps import RetentionDeps
from functions.process_conversation.processing.claims import Superseded
from shared import telemetry
from shared.data.conversations.announcements import claim_path, parse_claim
from shared.data.conversations.conversations import conversation_path, delete_below
from shared.data.conversations.photos import list_photo_paths
from shared.data.conversations.transcripts import part_path
from shared.data.store.codec import load_all
from shared.domain.conversations.claim import Claim
from shared.domain.conversations.conversation import Conversation, transcript_hash
from shared.domain.ids import UserId
from shared.domain.store.documents import Delete, Update
from shared.library.recordings import forget_sound_of
from shared.library.retention_schedule import schedule_retention
from shared.ports import Transaction

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
    try:
        freed = await delete_text(deps, uid, conversation)
    except Superseded:
        telemetry.warning("transcript_not_deleted")
        return False
    await deps.quotas.give_back(uid, "stored_bytes", freed, now=deps.clock.now())
    return True


async def delete_text(deps: RetentionDeps, uid: UserId, listed: Conversation) -> int:
    """Delete a transcript, its rows, its photos and the models' answers about it; the structure stays.

    Returns the bytes that this freed: none where they were deleted before. An earlier attempt at
    processing that still runs, without a lease, stores nothing after this. Raises Superseded
    while an attempt holds the claim: it has read the text.
    """
    claim = await deps.claims.take_over(uid, listed.id)
    chunk_count = max(listed.chunk_count, claim.chunk_count if claim else 0)
    await deps.index.remove_chunks(uid, listed.id, chunk_count)
    path = conversation_path(uid, listed.id)
    await delete_below(deps.stores.documents, path, ("answers",))

    async def work(tx: Transaction) -> int:
        document, claim_document = await tx.get_many([path, claim_path(uid, listed.id)])
        if _get_attempt(parse_claim(claim_document)) != _get_attempt(claim):
            raise Superseded
        for conversation in load_all(Conversation, [document]):
            parts = [part_path(path, number) for number in range(len(conversation.parts))]
            photos = list_photo_paths(path, conversation)
            tx.write(*map(Delete, [*parts, *photos]))
            tx.write(Update(path, _build_deletion(conversation, deps.clock.now())))
            return conversation.text_bytes + conversation.photo_bytes
        return 0

    return await deps.stores.documents.transaction(work)


def _get_attempt(claim: Claim | None) -> str | None:
    return claim.attempt if claim else None


def _build_deletion(conversation: Conversation, now: datetime) -> Mapping[str, Any]:
    """Return the changes that delete a transcript and keep its hash, so that nothing is processed."""
    return {
        "transcript_segments": [],
        "parts": [],
        "transcript_deleted_at": now,
        "deleted_hash": transcript_hash(conversation),
        "photos": [],
        "photo_count": 0,
        "photo_bytes": 0,
        "text_bytes": 0,
        "chunk_count": 0,
    }
