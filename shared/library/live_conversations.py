"""The end of live conversations: after a pause each is handed in once, like any other recording."""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol

from shared import telemetry
from shared.data.stores import Stores
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.live_conversation import LiveConversation, to_conversation
from shared.domain.errors import CallerError, Conflict, NotFound, QuotaExceeded
from shared.domain.ids import ConversationId, UserId
from shared.library.deps import IngestionDeps
from shared.library.hand_in import hand_in
from shared.library.recordings import forget_sound_of
from shared.ports import Blobs, Tasks

END_TARGET = "end_live"
GRACE = timedelta(seconds=30)
"""How much later than a connection the task looks: words may still be heard."""
QUOTA_DELAY = timedelta(hours=1)
LAST_WORDS = timedelta(seconds=10)
"""How long the words of the last sound may take."""
NOTHING_RECORDED = "No conversation is being recorded here"


class LiveEndDeps(IngestionDeps, Protocol):
    """What ending a live conversation needs."""

    @property
    def tasks(self) -> Tasks: ...
    @property
    def blobs(self) -> Blobs: ...


async def load_live(stores: Stores, uid: UserId) -> list[Conversation]:
    """Return what is being recorded, as far as it was said, the newest first."""
    return [
        to_conversation(live, await stores.live_conversations.load_batches(uid, live.id))
        for live in await _list_open(stores, uid)
    ]


async def iterate_live(stores: Stores, uid: UserId) -> AsyncIterator[Conversation]:
    """Yield whatever was recorded and is not handed in, also what is ending or set aside."""
    lives = await stores.live_conversations.list_all(uid)
    known = await stores.conversations.list_known(uid, [live.id for live in lives])
    for live in lives:
        if live.id not in known:
            batches = await stores.live_conversations.load_batches(uid, live.id)
            yield to_conversation(live, batches)


async def ask_for_end(deps: LiveEndDeps, uid: UserId) -> LiveConversation:
    """Have what is being recorded ended, because its owner stopped; return the newest of it.

    Words of its last sound are waited for. Raises NotFound where nothing is recorded.
    """
    lives = await _list_open(deps.stores, uid)
    if not lives:
        raise NotFound(NOTHING_RECORDED)
    for live in lives:
        await _schedule(deps, uid, live, deps.clock.now() + LAST_WORDS, is_asked=True)
    return lives[0]


async def _list_open(stores: Stores, uid: UserId) -> list[LiveConversation]:
    lives = [live for live in await stores.live_conversations.list_all(uid) if not live.is_ending]
    return sorted(lives, key=lambda live: live.started_at, reverse=True)


async def end_when_paused(
    deps: LiveEndDeps, uid: UserId, conversation_id: ConversationId, *, is_asked: bool = False
) -> None:
    """End a conversation whose pause has come, or look again when it may have; one `is_asked` for ends now."""
    live = await deps.stores.live_conversations.find(uid, conversation_id)
    if live is None:
        return
    if is_asked or live.is_ending or live.is_over(deps.clock.now()):
        await end_live(deps, uid, conversation_id)
    else:
        await schedule_end(deps, uid, live)


async def end_live(
    deps: LiveEndDeps, uid: UserId, conversation_id: ConversationId
) -> Conversation | None:
    """Hand a live conversation in, once; None where there is none, or nothing was said.

    Its sound is deleted unless its owner keeps sound, and was heard to say something. Beyond a quota it stays, and is tried again each hour; what is refused otherwise is set aside. A repeat
    finishes what an attempt left.
    """
    live = await deps.stores.live_conversations.begin_end(uid, conversation_id)
    if live is None or live.is_set_aside:
        return None
    batches = await deps.stores.live_conversations.load_batches(uid, conversation_id)
    conversation = replace(to_conversation(live, batches), status="processing")
    handed_in, has_words = None, bool(conversation.transcript_segments)
    try:
        with suppress(Conflict):  # handed in before, and changed since
            if has_words:
                handed_in = await hand_in(deps, uid, conversation, is_counted=True)
    except QuotaExceeded:
        telemetry.add_fields(outcome="refused", reason="quota")
        await _schedule(deps, uid, live, deps.clock.now() + QUOTA_DELAY)
        return None
    except CallerError as error:
        telemetry.error("live_conversation_refused", error=type(error).__name__)
        await deps.stores.live_conversations.set_aside(uid, conversation_id)
        return None
    if not (has_words and (await deps.stores.profiles.get(uid)).keeps_audio):
        await forget_sound_of(deps, uid, conversation_id)
    await deps.stores.live_conversations.remove(uid, conversation_id)
    return handed_in


async def schedule_end(deps: LiveEndDeps, uid: UserId, live: LiveConversation) -> None:
    """Have somebody look at the pause, whatever becomes of the connection."""
    await _schedule(deps, uid, live, live.last_words_at + live.pause + GRACE)


async def _schedule(
    deps: LiveEndDeps,
    uid: UserId,
    live: LiveConversation,
    at: datetime,
    *,
    is_asked: bool = False,
) -> None:
    occasion = f"{'asked-' if is_asked else ''}{int(at.timestamp())}"
    name = f"end-live-{telemetry.hash_id(uid)}-{live.id}-{occasion}"
    body = {"uid": uid, "conversation_id": live.id, "is_asked": is_asked}
    await deps.tasks.create(END_TARGET, name, body, at=at)
