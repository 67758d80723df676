"""What quiet hours held back comes as one push when they are over."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from functions.notifications.deps import NotificationsDeps
from functions.notifications.push import build_push_message, push, record_dead_letter
from functions.notifications.quiet_hours import decide_delivery
from shared.domain.errors import Unavailable
from shared.domain.ids import AppId, UserId
from shared.domain.notification import (
    Delivery,
    Digest,
    DigestId,
    Notification,
    build_digest,
    build_digest_id,
)
from shared.domain.profile import Profile

TITLE = "During your quiet hours"
MAX_NAMED_APPS = 5
"""So many apps are named in a digest, those with most to say first."""


async def defer_to_digest(
    deps: NotificationsDeps, uid: UserId, notification: Notification, *, until: datetime
) -> bool:
    """Keep a push for the digest at `until`; False when that digest is told already."""
    if not await deps.stores.digests.defer(uid, build_digest(until), notification.id):
        return False
    await schedule_digest(deps, uid, until)
    return True


async def schedule_digest(deps: NotificationsDeps, uid: UserId, until: datetime) -> None:
    name = build_digest_id(until)
    body = {"uid": uid, "id": name}
    await deps.tasks.create("deliver_digest", f"digest-{uid}-{name}", body, at=until)


async def deliver_digest(deps: NotificationsDeps, uid: UserId, name: DigestId) -> None:
    """Push once what is held back until now, as its owner wants it by now.

    Raises Unavailable while some device may still be reached.
    """
    digest = await deps.stores.digests.close(uid, name)
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
    """Count by app what is to be heard now; what has become quiet for longer is held on."""
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
    if decision == "silence" or notification.read:
        return False
    return decision == "push" or not await _defer_again(deps, uid, notification, until=decision)


async def _defer_again(
    deps: NotificationsDeps, uid: UserId, notification: Notification, *, until: datetime
) -> bool:
    """Hold it for a later digest, whose task comes first: this digest would not find it again."""
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
    """Count by the names of the apps; of one that is gone, its id is left."""
    names = {app.id: app.name for app in await deps.stores.apps.get_many(sorted(counts_by_id))}
    counts: Counter[str] = Counter()
    for app_id, count in counts_by_id.items():
        counts[names.get(app_id, app_id)] += count  # two apps may bear one name
    return counts


def format_summary(counts: Mapping[str, int]) -> str:
    """Say how many came from which apps, as `4 notifications: Weather 3, News 1`."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    parts = [f"{name} {count}" for name, count in ranked[:MAX_NAMED_APPS]]
    if others := sum(count for _, count in ranked[MAX_NAMED_APPS:]):
        parts.append(f"others {others}")
    total = sum(counts.values())
    noun = "notification" if total == 1 else "notifications"
    return f"{total} {noun}: {', '.join(parts)}"
