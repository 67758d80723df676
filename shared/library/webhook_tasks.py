"""Webhook tasks: the deliveries of webhooks as tasks, each named once for every attempt."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime

from shared.data.stores import Stores
from shared.domain.apps.webhook import OWN_WEBHOOK, WebhookDelivery
from shared.domain.ids import AppId, ConversationId, UserId
from shared.outbound.webhook_signature import build_message_id
from shared.ports import Tasks

DELIVERY_TARGET = "deliver_webhook"


def build_delivery_id(delivery: WebhookDelivery) -> str:
    """Return the message id of a delivery, the same for every attempt."""
    return build_message_id(
        delivery.uid, delivery.app_id, delivery.trigger, delivery.subject_id, delivery.version
    )


async def queue_delivery(
    tasks: Tasks, delivery: WebhookDelivery, *, at: datetime | None = None
) -> None:
    """Create the task of an attempt, once by its name; it is due now without `at`."""
    name = f"{build_delivery_id(delivery)}-{delivery.attempt}"
    await tasks.create(DELIVERY_TARGET, name, asdict(delivery), at=at)


async def queue_day_summary(stores: Stores, tasks: Tasks, uid: UserId, summary_id: str) -> None:
    """Send a stored daily summary to its user's own webhook, if that is on; a repeat sends no other."""
    webhooks = await stores.developer_webhooks.get(uid)
    if webhooks.get("day_summary").is_on:
        delivery = WebhookDelivery(
            uid=uid, app_id=OWN_WEBHOOK, trigger="day_summary", subject_id=summary_id
        )
        await queue_delivery(tasks, delivery)


async def queue_live_words(
    tasks: Tasks,
    uid: UserId,
    receivers: Iterable[AppId],
    conversation_id: ConversationId,
    batch_id: str,
) -> None:
    """Send what was just said to these, each of whom the delivery looks up once more."""
    for receiver in receivers:
        is_own = receiver == OWN_WEBHOOK
        delivery = WebhookDelivery(
            uid=uid,
            app_id=receiver,
            trigger="realtime_transcript" if is_own else "transcript_processed",
            subject_id=conversation_id,
            version=batch_id,
        )
        await queue_delivery(tasks, delivery)
