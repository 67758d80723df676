"""Digest: one push, after quiet hours, for the notifications that they deferred.

Also called: batched notifications.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from functions.notifications.deps import NotificationsDeps
from functions.notifications.push import build_push_message, push, record_dead_letter
from functions.notifications.push_frequency import is_unwanted
from functions.notifications.quiet_hours import decide_delivery
from shared import telemetry
from shared.domain.account.notification import (
    Delivery,
    Digest,
    DigestId,
    Notification,
    build_digest,
    build_digest_id,
)
from shared.domain.account.profile import Profile
from shared.domain.conversations.daily_summary import DAILY_SUMMARY
from shared.domain.errors import Unavailable
from shared.domain.ids import AppId, UserId

TITLE = "During your quiet hours"
MAX_NAMED_APPS = 5
"""Apps named in a digest, those with the most notifications first."""


async def defer_to_digest(
    deps: NotificationsDeps, uid: UserId, notification: Notification, *, until: datetime
) -> bool:
    """Defer a push to the digest at `until`. Returns False if that digest is closed already."""
    if not await deps.stores.digests.defer(uid, build_digest(until), notification.id):
        return False
    await schedule_digest(deps, uid, until)
    return True


async def schedule_digest(deps: NotificationsDeps, uid: UserId, until: datetime) -> None:
    digest_id = build_digest_id(until)
    body = {"uid": uid, "id": digest_id}
    await deps.tasks.create(
        "deliver_digest", f"digest-{telemetry.hash_id(uid)}-{digest_id}", body, at=until
    )


async def deliver_digest(deps: NotificationsDeps, uid: UserId, digest_id: DigestId) -> None:
    """Push one digest of the deferred notifications, by the owner's current preferences.

    Raises Unavailable while a retry may reach more devices.
    """
    digest = await deps.stores.digests.close(uid, digest_id)
    if digest is None:
        return
    delivery = digest.delivery
    if delivery.sent_at is None:
        counts = await _count_deliverable(deps, uid, digest)
        delivery = await _push(deps, uid, digest, counts)
        await record_dead_letter(deps, "deliver_digest", {"uid": uid, "id": digest.id}, delivery)
        await deps.stores.digests.record_delivery(uid, digest.id, delivery)
    if not delivery.is_over:
        raise Unavailable("Some devices cannot be reached now")
    while deferred := await deps.stores.inbox.list_deferred(uid, digest.due_at):
        await deps.stores.inbox.record_delivery(uid, deferred, delivery)


async def _count_deliverable(
    deps: NotificationsDeps, uid: UserId, digest: Digest
) -> Mapping[AppId, int]:
    """Count by app the notifications to push now; defer again those that are quiet for longer."""
    profile = await deps.stores.profiles.get(uid)
    counts: Counter[AppId] = Counter()
    last_id = None
    while deferred := await deps.stores.inbox.list_deferred(uid, digest.due_at, after=last_id):
        counts.update(
            [
                notification.app_id
                for notification in deferred
                if await _is_deliverable(deps, uid, notification, profile)
            ]
        )
        last_id = deferred[-1].id
    return counts


async def _is_deliverable(
    deps: NotificationsDeps, uid: UserId, notification: Notification, profile: Profile
) -> bool:
    preferences, now = profile.notifications, deps.clock.now()
    decision = decide_delivery(preferences, notification.app_id, zone=profile.zone, now=now)
    if decision == "silence" or notification.read or is_unwanted(notification, profile):
        return False
    return decision == "push" or not await _defer_again(deps, uid, notification, until=decision)


async def _defer_again(
    deps: NotificationsDeps, uid: UserId, notification: Notification, *, until: datetime
) -> bool:
    """Defer it to a later digest. Its task comes first: this digest would not find it again."""
    await schedule_digest(deps, uid, until)
    return await defer_to_digest(deps, uid, notification, until=until)


async def _push(
    deps: NotificationsDeps, uid: UserId, digest: Digest, counts: Mapping[AppId, int]
) -> Delivery:
    if not counts:
        return replace(digest.delivery, sent_at=deps.clock.now())
    text = format_summary(await _count_by_name(deps, counts))
    data = {
        "id": digest.id,
        "created_at": digest.due_at.isoformat(),
        "notification_type": "digest",
        "text": text,
        "navigate_to": "/inbox",
    }
    message = build_push_message(uid, digest.id, title=TITLE, body=text, data=data)
    return await push(deps, uid, message, digest.delivery)


async def _count_by_name(
    deps: NotificationsDeps, counts_by_id: Mapping[AppId, int]
) -> Mapping[str, int]:
    """Sum the counts by the name of the app, or its id if the app was deleted."""
    apps = await deps.stores.apps.get_many(sorted(counts_by_id))
    names = {DAILY_SUMMARY: "Daily summary", **{app.id: app.name for app in apps}}
    counts: Counter[str] = Counter()
    for app_id, count in counts_by_id.items():
        counts[names.get(app_id, app_id)] += count  # names are not unique
    return counts


def format_summary(counts: Mapping[str, int]) -> str:
    """Format the counts by app, as `4 notifications: Weather 3, News 1`."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    parts = [f"{name} {count}" for name, count in ranked[:MAX_NAMED_APPS]]
    if others := sum(count for _, count in ranked[MAX_NAMED_APPS:]):
        parts.append(f"others {others}")
    total = sum(counts.values())
    noun = "notification" if total == 1 else "notifications"
    return f"{total} {noun}: {', '.join(parts)}"
