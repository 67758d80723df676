"""What happens when a notification's task is due: it reaches the user's devices and their inbox."""

import hashlib
import json
from bisect import bisect_right

from functions.notifications.wiring import NotificationsDeps
from shared import telemetry
from shared.domain.ids import UserId
from shared.domain.notification import Notification, NotificationId
from shared.ports import PushMessage

TITLE_BYTES = 300
TEXT_BYTES = 1400
"""The text stands in a push twice; the rest of 4,096 bytes is ids, times and field names."""


async def deliver(deps: NotificationsDeps, uid: UserId, notification_id: NotificationId) -> None:
    """Push a stored notification and show it in the inbox; delivered twice, it is shown once."""
    notification = await deps.inbox.get(uid, notification_id)
    if notification is None or notification.delivered_at is not None:
        return
    devices = await deps.devices.all(uid)
    tokens = [device.fcm_token for device in devices]
    dead = set(await deps.push.send(uid, tokens, push_message(uid, notification)))
    if dead:
        await deps.devices.forget(uid, [d for d in devices if d.fcm_token in dead])
    await deps.inbox.mark_delivered(uid, notification_id, deps.clock.now())
    telemetry.note(devices=len(devices), dead=len(dead))


def push_message(uid: UserId, notification: Notification) -> PushMessage:
    """Build the same message, with the same tag, on every attempt; it takes at most 4 KB."""
    data = notification.data
    return PushMessage(
        title=clip(notification.title, TITLE_BYTES),
        body=clip(notification.body, TEXT_BYTES),
        data={**data, "text": clip(data["text"], TEXT_BYTES)},
        tag=hashlib.sha256(f"{uid}:{notification.id}".encode()).hexdigest()[:16],
    )


def clip(text: str, max_bytes: int) -> str:
    """Cut `text` so that it takes at most `max_bytes` as JSON, and show that it was cut."""
    if _json_bytes(text) <= max_bytes:
        return text
    room = max_bytes - _json_bytes("…")
    kept = bisect_right(range(len(text)), room, key=lambda n: _json_bytes(text[:n])) - 1
    return text[:kept] + "…"


def _json_bytes(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode()) - len('""')
