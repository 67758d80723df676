"""Reprocessing: a conversation is given to processing again, and its end is waited for."""

from datetime import timedelta

from shared.domain.conversations.conversation import (
    CONVERSATION_CHANGED_TOPIC,
    Conversation,
    content_hash,
)
from shared.domain.errors import Conflict
from shared.domain.ids import AppId, ConversationId, UserId
from shared.library.deps import LibraryDeps
from shared.library.summary_apps import require_summary_app

MAX_WAIT = timedelta(seconds=100)
"""The released app waits for 300 s, and asks once more after a 503: that waits for the same work."""
RETRY_AFTER_S = 30
STILL_PROCESSING = "Processing takes longer than usual. It goes on; ask again in half a minute."
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 2.0


async def start_reprocessing(
    deps: LibraryDeps,
    uid: UserId,
    conversation_id: ConversationId,
    *,
    app_id: AppId | None = None,
    language: str | None = None,
) -> Conversation:
    """Have the models read it again, in `language` if given; the app `app_id` writes its summary.

    Returns it as it was before. What is being processed is not begun anew. Raises NotFound, Conflict,
    and Invalid for an app that writes no summaries.
    """
    if app_id is not None:
        await require_summary_app(deps.stores, uid, app_id)
        await deps.stores.conversations.choose_summary_app(uid, conversation_id, app_id)
    conversation = await deps.stores.conversations.get(uid, conversation_id)
    if conversation.has_deleted_transcript:
        raise Conflict("The transcript of this conversation was deleted.")
    if conversation.status != "processing":
        # Reopened first: the next attempt sends a message that was not sent.
        await deps.stores.conversations.reopen(
            uid, conversation_id, now=deps.clock.now(), language=language
        )
    event = {
        "uid": uid,
        "conversation_id": conversation_id,
        "content_hash": content_hash(conversation),
    }
    await deps.events.publish(CONVERSATION_CHANGED_TOPIC, event)
    return conversation


async def wait_until_processed(deps: LibraryDeps, uid: UserId, before: Conversation) -> bool:
    """Return whether processing ended within MAX_WAIT, well or not. Raises NotFound."""
    end, pause_s = deps.clock.now() + MAX_WAIT, _FIRST_PAUSE_S
    while deps.clock.now() < end:
        if _is_finished(await deps.stores.conversations.get_stored(uid, before.id), before):
            return True
        await deps.clock.sleep(pause_s)
        pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)
    return False


def _is_finished(current: Conversation, before: Conversation) -> bool:
    """Tell whether an attempt has ended; each stamps the conversation, an earlier failure too."""
    if current.status == "completed":
        return current.processed_hash is not None
    is_new = before.status != "failed" or current.listed_at != before.listed_at
    return current.status == "failed" and is_new
