"""Subjects of webhooks: the conversation, the daily summary or the live words that one tells of."""

from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.webhooks.payload import (
    build_live_payload,
    build_payload,
    build_summary_payload,
)
from shared.domain.apps.webhook import WebhookDelivery
from shared.domain.chats.card import build_card
from shared.domain.chats.chat import Card
from shared.domain.conversations.conversation import Conversation
from shared.domain.errors import NotFound
from shared.domain.ids import ConversationId
from shared.domain.value import value


@value
class Subject:
    """The body to send; `card` shows the conversation in a chat.

    It is not complete while the conversation is being processed. `line_count` is that of live words.
    """

    payload: bytes
    card: Card | None = None
    is_complete: bool = True
    line_count: int = 0


async def load_subject(
    deps: ToolProxyDeps, delivery: WebhookDelivery, user_id: str
) -> Subject | None:
    """Return what to tell one who knows the user by this id; None where it is gone, or a later version is told of."""
    if delivery.trigger == "day_summary":
        return await _load_day_summary(deps, delivery)
    if delivery.trigger in ("realtime_transcript", "transcript_processed"):
        return await _load_live_words(deps, delivery, user_id)
    conversation = await _load_conversation(deps, delivery)
    if conversation is None:
        return None
    return Subject(
        payload=build_payload(conversation, delivery.trigger),
        card=build_card(conversation),
        is_complete=conversation.status == "completed",
    )


async def _load_day_summary(deps: ToolProxyDeps, delivery: WebhookDelivery) -> Subject | None:
    try:
        summary = await deps.stores.daily_summaries.get(delivery.uid, delivery.subject_id)
    except NotFound:
        return None
    return Subject(payload=build_summary_payload(delivery.uid, summary))


async def _load_live_words(
    deps: ToolProxyDeps, delivery: WebhookDelivery, user_id: str
) -> Subject | None:
    """Return what was just said; once its conversation has ended, that tells it all."""
    batch = await deps.stores.live_conversations.find_batch(
        delivery.uid, ConversationId(delivery.subject_id), delivery.version
    )
    if batch is None:
        return None
    payload = build_live_payload(user_id, batch.segments)
    return Subject(payload=payload, line_count=len(batch.segments))


async def _load_conversation(deps: ToolProxyDeps, delivery: WebhookDelivery) -> Conversation | None:
    try:
        conversation = await deps.stores.conversations.get(
            delivery.uid, ConversationId(delivery.subject_id)
        )
    except NotFound:
        return None
    processed_at = conversation.processed_at
    is_same = not delivery.version or (
        processed_at and processed_at.isoformat() == delivery.version
    )
    return conversation if is_same and not conversation.discarded else None
