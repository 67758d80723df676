"""Places of recorded conversations: what a recorder heard goes on in the conversation that stands beside it.

Phones send their files late, in any order and several at once. So the place of each is decided alone: of two
decisions at once, the second is made anew.

Also called: conversation stitching.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from functions.media.deps import TranscribeDeps
from shared.data.conversations.recordings import recording_path
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.live_conversation import LiveBatch
from shared.domain.conversations.merged_transcript import join_conversation
from shared.domain.conversations.recording import MAX_DURATION, MAX_PAUSE, Recording
from shared.domain.errors import (
    AccountErased,
    CallerError,
    Conflict,
    NotFound,
    PreconditionFailed,
    TooLarge,
    Unavailable,
)
from shared.domain.ids import UserId
from shared.domain.store.documents import Update, Write
from shared.library.conversation_schemas import MAX_SEGMENTS
from shared.library.hand_in import hand_in
from shared.library.ingestion import ingest_more
from shared.library.merging import merge
from shared.library.validate_conversation import validate_conversation

MAX_ATTEMPTS = 10
MAX_LOOKED_AT = 20
"""Conversations that begin before the end of the sound, the newest first."""


async def place_conversation(
    deps: TranscribeDeps, uid: UserId, recording: Recording, conversation: Conversation
) -> None:
    """Store what was recorded, once: in the conversation beside it, or as one of its own.

    Where it fills the gap between two, these become one; for an hour that can be undone. Raises Invalid, TooLarge, QuotaExceeded, and Unavailable while others keep being first.
    """
    await _store_once(deps, uid, recording, conversation)
    if recording.source is not None:
        await _close_gap(deps, uid, recording)


async def add_to_live(
    deps: TranscribeDeps, uid: UserId, recording: Recording, conversation: Conversation
) -> bool:
    """Add the words of late sound to its conversation while that is recorded; False for any other. A repeat changes nothing.

    Raises QuotaExceeded.
    """
    live = recording.target_id and await deps.stores.live_conversations.find(
        uid, recording.target_id
    )
    if not live:
        return False
    lead_s = (conversation.started_at - live.started_at).total_seconds()
    batch = LiveBatch(
        id=recording.id,
        segments=tuple(
            replace(
                segment,
                id=f"{recording.id}-{number:05}",
                start=round(max(segment.start + lead_s, 0.0), 3),
                end=round(max(segment.end + lead_s, 0.0), 3),
            )
            for number, segment in enumerate(conversation.transcript_segments)
        ),
    )
    if live.is_ending or live.is_full(batch.text_bytes):
        return False
    size = sum(segment.count_text_bytes() for segment in batch.segments)
    await deps.quotas.take(uid, "ingested_bytes", size, now=deps.clock.now())
    heard = replace(live, language=live.language or conversation.language)
    return await deps.stores.live_conversations.add(uid, heard, batch, is_new=False) is not None


async def _store_once(
    deps: TranscribeDeps, uid: UserId, recording: Recording, conversation: Conversation
) -> None:
    for _ in range(MAX_ATTEMPTS):
        turn = await deps.stores.recordings.take_turn(uid)
        if await _is_placed(deps, uid, recording):
            return
        try:
            if not await _join(deps, uid, recording, conversation, turn):
                await hand_in(deps, uid, conversation, also=[turn])
        except AccountErased:
            raise
        except PreconditionFailed:
            continue
        return
    raise Unavailable("Other recordings are being placed")


async def _is_placed(deps: TranscribeDeps, uid: UserId, recording: Recording) -> bool:
    """Tell whether an attempt that died stored it."""
    stored = await deps.stores.recordings.find(uid, recording.id)
    if stored is not None and stored.conversation_id is not None:
        return True
    return bool(await deps.stores.conversations.list_known(uid, [recording.id]))


async def _join(
    deps: TranscribeDeps,
    uid: UserId,
    recording: Recording,
    conversation: Conversation,
    turn: Write,
) -> bool:
    """Add it to the conversation beside it; False where there is none that takes it."""
    found = await _find_beside(deps, uid, recording, conversation)
    if found is None:
        return False
    moved = Update(recording_path(uid, recording.id), {"conversation_id": found.id})
    try:
        whole = await deps.stores.conversations.get(uid, found.id)
        joined = join_conversation(
            whole, conversation, are_speakers_told_apart=deps.transcriber.tells_speakers
        )
        _validate(joined, deps)
        await ingest_more(deps, uid, whole, joined, also=[turn, moved])
    except TooLarge:
        return False
    except (NotFound, Conflict) as error:  # it was deleted, or its words were changed, meanwhile
        raise PreconditionFailed from error
    return True


def _validate(joined: Conversation, deps: TranscribeDeps) -> None:
    """Raises TooLarge."""
    if len(joined.transcript_segments) > MAX_SEGMENTS:
        raise TooLarge(f"A conversation has at most {MAX_SEGMENTS} segments")
    validate_conversation(joined, deps.clock.now())


async def _find_beside(
    deps: TranscribeDeps, uid: UserId, recording: Recording, conversation: Conversation
) -> Conversation | None:
    """Return the conversation that the sound was sent for, else the first of the same recorder beside it."""
    if recording.source is None:
        return None
    if recording.target_id is not None:
        with suppress(NotFound):
            target = await deps.stores.conversations.get_stored(uid, recording.target_id)
            if _can_grow(target) and _spans(target, conversation):
                return target
    return await _find_neighbour(deps, uid, conversation)


async def _close_gap(deps: TranscribeDeps, uid: UserId, recording: Recording) -> None:
    """Merge its conversation with another one that stands beside it now."""
    placed = await deps.stores.recordings.get(uid, recording.id)
    with suppress(CallerError):  # it was deleted meanwhile, or both are too large for one
        holder = await deps.stores.conversations.get_stored(uid, placed.holder_id)
        other = await _find_neighbour(deps, uid, holder)
        if other is not None and _can_grow(holder):
            are_labels_shared = not deps.transcriber.tells_speakers
            await merge(deps, uid, [holder.id, other.id], are_labels_shared=are_labels_shared)


async def _find_neighbour(
    deps: TranscribeDeps, uid: UserId, conversation: Conversation
) -> Conversation | None:
    """Return the first other conversation of the same recorder beside it."""
    page = await deps.stores.conversations.list_page(
        uid, limit=MAX_LOOKED_AT, before=conversation.finished_at + MAX_PAUSE
    )
    return _choose([each for each in page.items if each.id != conversation.id], conversation)


def _choose(stored: Sequence[Conversation], conversation: Conversation) -> Conversation | None:
    beside = [
        each
        for each in stored
        if each.source == conversation.source
        and _can_grow(each)
        and each.started_at < conversation.finished_at + MAX_PAUSE
        and conversation.started_at < each.finished_at + MAX_PAUSE
        and _spans(each, conversation)
    ]
    return min(beside, key=lambda each: (each.started_at, each.id), default=None)


def _can_grow(stored: Conversation) -> bool:
    """Tell whether a recorder's words may be added: they are its own, none were deleted, and it is over."""
    is_recorded = stored.app_id is None and not stored.is_imported
    return is_recorded and stored.transcript_deleted_at is None and stored.status != "in_progress"


def _spans(stored: Conversation, conversation: Conversation) -> bool:
    """Tell whether both together are no longer than a recording may be."""
    end = max(stored.finished_at, conversation.finished_at)
    return end - min(stored.started_at, conversation.started_at) <= MAX_DURATION
