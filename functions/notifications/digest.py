"""What quiet hours held back comes as one push when they are over."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from functions.notifications.push import bury, push, push_message
from functions.notifications.wiring import NotificationsDeps
from shared.domain.errors import Unavailable
from shared.domain.ids import AppId, UserId
from shared.domain.notification import (
    Delivery,
    Digest,
    DigestId,
    Notification,
    digest_id,
    new_digest,
)
from shared.domain.profile import Profile
from shared.domain.quiet import decide

TITLE = "While it was quiet"
NAMED = 5
"""So many apps are named in a digest, those with most to say first."""


async def hold(
    deps: NotificationsDeps, uid: UserId, notification: Notification, *, until: datetime
) -> bool:
    """Keep a push for the digest at `until`; False when that digest is told already."""
    if not await deps.digests.join(uid, new_digest(until), notification.id):
        return False
    await queue(deps, uid, until)
    return True


async def queue(deps: NotificationsDeps, uid: UserId, until: datetime) -> None:
    name = digest_id(until)
    body = {"uid": uid, "id": name}
    await deps.tasks.create("deliver_digest", f"digest-{uid}-{name}", body, at=until)


async def deliver_digest(deps: NotificationsDeps, uid: UserId, name: DigestId) -> None:
    """Push once what is held back until now, as its owner wants it by now.

    Raises Unavailable while some device may still be reached.
    """
    digest = await deps.digests.close(uid, name)
    if digest is None:
        return
    delivery = digest.delivery
    if delivery.sent_at is None:
        told = await _still_wanted(deps, uid, digest)
        delivery = await _push(deps, uid, digest, told)
        await bury(deps, "deliver_digest", {"uid": uid, "id": digest.id}, delivery)
        await deps.digests.settle(uid, digest.id, delivery)
    if not delivery.is_over:
        raise Unavailable("Some devices cannot be reached now")
    while left := await deps.inbox.held(uid, digest.due_at):
        await deps.inbox.settle(uid, left, delivery)


async def _still_wanted(
    deps: NotificationsDeps, uid: UserId, digest: Digest
) -> Mapping[AppId, int]:
    """Count by app what is to be heard now; what has become quiet for longer is held on."""
    profile = await deps.profiles.get(uid)
    told: Counter[AppId] = Counter()
    last = None
    while held := await deps.inbox.held(uid, digest.due_at, after=last):
        told.update([each.app_id for each in held if await _is_heard(deps, uid, each, profile)])
        last = held[-1].id
    return told


async def _is_heard(
    deps: NotificationsDeps, uid: UserId, notification: Notification, profile: Profile
) -> bool:
    preferences, now = profile.notifications, deps.clock.now()
    decision = decide(preferences, notification.app_id, zone=profile.zone, now=now)
    if decision == "silence" or notification.read:
        return False
    return decision == "push" or not await _hold_on(deps, uid, notification, until=decision)


async def _hold_on(
    deps: NotificationsDeps, uid: UserId, notification: Notification, *, until: datetime
) -> bool:
    """Hold it for a later digest, whose task comes first: this digest would not find it again."""
    await queue(deps, uid, until)
    return await hold(deps, uid, notification, until=until)


async def _push(
    deps: NotificationsDeps, uid: UserId, digest: Digest, told: Mapping[AppId, int]
) -> Delivery:
    if not told:
        return replace(digest.delivery, sent_at=deps.clock.now())
    text = summary(await _by_name(deps, told))
    data = {
        "id": digest.id,
        "created_at": digest.due_at.isoformat(),
        "notification_type": "digest",
        "text": text,
        "navigate_to": "/inbox",
    }
    message = push_message(uid, digest.id, title=TITLE, body=text, data=data)
    return await push(deps, uid, message, digest.delivery)


async def _by_name(deps: NotificationsDeps, told: Mapping[AppId, int]) -> Mapping[str, int]:
    """Count by the names of the apps; of one that is gone, its id is left."""
    names = {app.id: app.name for app in await deps.apps.get_many(sorted(told))}
    counts: Counter[str] = Counter()
    for app_id, count in told.items():
        counts[names.get(app_id, app_id)] += count  # two apps may bear one name
    return counts


def summary(counts: Mapping[str, int]) -> str:
    """Say how many came from which apps, as `4 notifications: Weather 3, News 1`."""
    ranked = sorted(counts.items(), key=lambda counted: (-counted[1], counted[0]))
    named = [f"{name} {count}" for name, count in ranked[:NAMED]]
    if others := sum(count for _, count in ranked[NAMED:]):
        named.append(f"others {others}")
    total = sum(counts.values())
    noun = "notification" if total == 1 else "notifications"
    return f"{total} {noun}: {', '.join(named)}"
