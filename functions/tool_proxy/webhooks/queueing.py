"""Queueing of webhooks: who hears of a processed conversation, and one delivery for each of them.

Also called: fan-out.
"""

from datetime import datetime

from functions.tool_proxy.deps import ToolProxyDeps
from shared.domain.apps.webhook import (
    ANNOUNCEMENT_TTL,
    ANNOUNCEMENT_WINDOW,
    OWN_WEBHOOK,
    Announcement,
    WebhookDelivery,
)
from shared.domain.conversations.conversation import Conversation
from shared.domain.errors import NotFound
from shared.domain.ids import AppId, ConversationId, UserId
from shared.library.webhook_recipients import list_subscribed
from shared.library.webhook_tasks import queue_delivery


async def queue_deliveries(
    deps: ToolProxyDeps, uid: UserId, conversation_id: ConversationId
) -> None:
    """Queue what is due for a conversation as it is now; a repeat queues nothing more.

    A new one is announced once; each later version is an update of its own.
    """
    try:
        conversation = await deps.stores.conversations.get_stored(uid, conversation_id)
    except NotFound:
        return
    if conversation.discarded or conversation.processed_at is None:
        return
    announcement = await _find_announcement(deps, uid, conversation)
    if announcement is not None and not announcement.is_queued:
        await _queue_announcement(deps, uid, announcement)
    if announcement is None or announcement.version != conversation.processed_at:
        await _queue_updates(deps, uid, conversation.id, conversation.processed_at)


async def _find_announcement(
    deps: ToolProxyDeps, uid: UserId, conversation: Conversation
) -> Announcement | None:
    """Return who is to hear of the conversation as a new one, decided now if it was not before."""
    stored = await deps.stores.webhook_deliveries.get_announcement(uid, conversation.id)
    now, version, kept_at = deps.clock.now(), conversation.processed_at, conversation.kept_at
    if stored is not None or kept_at is None or version is None:
        return stored
    if kept_at <= now - ANNOUNCEMENT_WINDOW:
        return None
    announcement = Announcement(
        id=conversation.id,
        version=version,
        receivers=tuple(await _list_receivers(deps, uid, kept_at)),
        expires_at=now + ANNOUNCEMENT_TTL,
    )
    return await deps.stores.webhook_deliveries.announce(uid, announcement)


async def _list_receivers(deps: ToolProxyDeps, uid: UserId, kept_at: datetime) -> list[AppId]:
    """List the user's own webhook and the apps that were installed before the conversation was kept."""
    own_webhooks = await deps.stores.developer_webhooks.get(uid)
    receivers = [OWN_WEBHOOK] if own_webhooks.get("memory_created").is_on else []
    return receivers + [
        app.id
        for app, installation in await list_subscribed(deps.stores, uid, "memory_creation")
        if installation.installed_at <= kept_at
    ]


async def _queue_announcement(deps: ToolProxyDeps, uid: UserId, announcement: Announcement) -> None:
    for receiver in announcement.receivers:
        delivery = WebhookDelivery(
            uid=uid,
            app_id=receiver,
            trigger="memory_created" if receiver == OWN_WEBHOOK else "memory_creation",
            subject_id=announcement.id,
        )
        await queue_delivery(deps.tasks, delivery)
    await deps.stores.webhook_deliveries.mark_queued(uid, announcement.id)


async def _queue_updates(
    deps: ToolProxyDeps, uid: UserId, conversation_id: ConversationId, processed_at: datetime
) -> None:
    for app, _ in await list_subscribed(deps.stores, uid, "conversation_updated"):
        delivery = WebhookDelivery(
            uid=uid,
            app_id=app.id,
            trigger="conversation_updated",
            subject_id=conversation_id,
            version=processed_at.isoformat(),
        )
        await queue_delivery(deps.tasks, delivery)
