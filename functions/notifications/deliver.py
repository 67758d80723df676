"""Delivery of one notification when its task is due: push it, defer it to a digest, or suppress it."""

import asyncio
from dataclasses import replace
from datetime import datetime

from functions.notifications.deps import NotificationsDeps
from functions.notifications.digest import defer_to_digest, schedule_digest
from functions.notifications.push import build_push_message, push, record_dead_letter
from functions.notifications.push_frequency import take_push
from functions.notifications.quiet_hours import DeliveryDecision, decide_delivery
from shared.domain.account.notification import Delivery, Notification, NotificationId
from shared.domain.account.profile import Profile
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId


async def deliver(deps: NotificationsDeps, uid: UserId, notification_id: NotificationId) -> None:
    """Push a stored notification according to its owner's preferences.

    A repeat is safe: devices show one notification for each tag. Raises Unavailable while a retry
    may reach more devices.
    """
    notification, profile = await asyncio.gather(
        deps.stores.inbox.get(uid, notification_id), deps.stores.profiles.get(uid)
    )
    if notification is None or notification.delivery.sent_at is not None:
        return
    if notification.held_until is not None:
        await schedule_digest(deps, uid, notification.held_until)
        return
    now = deps.clock.now()
    decision = _decide(notification, profile, now)
    if isinstance(decision, datetime) and await defer_to_digest(
        deps, uid, notification, until=decision
    ):
        return
    is_quiet = decision == "silence" or notification.read
    if is_quiet or not await take_push(deps, uid, notification, profile):
        delivery = replace(notification.delivery, sent_at=now)
    else:
        delivery = await _push(deps, uid, notification)
    await _record_delivery(deps, uid, notification, delivery)


def _decide(notification: Notification, profile: Profile, now: datetime) -> DeliveryDecision:
    """Data is pushed at once: nobody sees it."""
    if notification.is_data:
        return "push"
    return decide_delivery(profile.notifications, notification.app_id, zone=profile.zone, now=now)


async def _push(deps: NotificationsDeps, uid: UserId, notification: Notification) -> Delivery:
    message = build_push_message(
        uid,
        notification.id,
        title=notification.title,
        body=notification.body,
        data=notification.data,
    )
    return await push(deps, uid, message, notification.delivery)


async def _record_delivery(
    deps: NotificationsDeps, uid: UserId, notification: Notification, delivery: Delivery
) -> None:
    ids = {"uid": uid, "id": notification.id}
    await record_dead_letter(deps, "deliver_notification", ids, delivery)
    await deps.stores.inbox.record_delivery(uid, [notification], delivery)
    if not delivery.is_over:
        raise Unavailable("Some devices cannot be reached now")
