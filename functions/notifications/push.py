"""Push of one message to all devices of a user: at most 4 KB, retried per device.

Also called: push notifications, mobile notifications.
"""

import hashlib
import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from functions.notifications.deps import NotificationsDeps
from shared import telemetry
from shared.domain.account.notification import Delivery
from shared.domain.account.profile import Device
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.domain.store.dead_letter import DeadLetter, build_dead_letter_id
from shared.ports import PushMessage, PushOutcome

MAX_TITLE_BYTES = 300
MAX_TEXT_BYTES = 1400
"""A push holds the text twice; ids, times and field names take the rest of 4,096 bytes."""
MAX_ATTEMPTS = 8
"""Fewer than the queue makes, so that the last attempt can record why it failed."""
MAX_BROWSER_PUSHES = 60
"""An hour. What is beyond is in the inbox all the same."""
RETRIES_EXHAUSTED = "Unavailable"


def build_push_message(
    uid: UserId, message_id: str, *, title: str, body: str, data: Mapping[str, str]
) -> PushMessage:
    """Build the message, at most 4 KB and the same, with the same tag, on every attempt."""
    return PushMessage(
        title=truncate_json(title, MAX_TITLE_BYTES),
        body=truncate_json(body, MAX_TEXT_BYTES),
        data=_shorten_text(data, body) if title else data,
        tag=hashlib.sha256(f"{uid}:{message_id}".encode()).hexdigest()[:16],
    )


def _shorten_text(data: Mapping[str, str], body: str) -> Mapping[str, str]:
    return {**data, "text": truncate_json(data.get("text", body), MAX_TEXT_BYTES)}


async def push(
    deps: NotificationsDeps, uid: UserId, message: PushMessage, delivery: Delivery
) -> Delivery:
    """Send a message to the devices not reached yet; remove devices whose token is dead.

    Browsers get none beyond MAX_BROWSER_PUSHES an hour. Raises Unavailable.
    """
    devices = [d for d in await deps.stores.devices.list_all(uid) if d.id not in delivery.reached]
    if not await _may_ask_browsers(deps, uid, devices, message):
        devices = [device for device in devices if not device.is_browser]
    outcome = await _send(deps, uid, [device.fcm_token for device in devices], message)
    dead_devices = _select_by_token(devices, outcome.dead_tokens)
    if dead_devices:
        await deps.stores.devices.remove_unless_renewed(uid, dead_devices)
    telemetry.add_fields(
        devices=len(devices),
        dead=len(dead_devices),
        later=len(outcome.retryable_tokens),
        refused=len(outcome.refusal_reasons),
    )
    reached_ids = [device.id for device in _select_by_token(devices, outcome.sent_tokens)]
    return update_progress(delivery, outcome, reached_ids, deps.clock.now())


async def _may_ask_browsers(
    deps: NotificationsDeps, uid: UserId, devices: Sequence[Device], message: PushMessage
) -> bool:
    """Count a push that is a request to addresses of the owner's choice; a repeat counts once."""
    if not message.title or not any(device.is_browser for device in devices):
        return True
    left = await deps.stores.hourly_limits.consume(
        uid,
        "browser-pushes",
        hour=deps.clock.now().replace(minute=0, second=0, microsecond=0),
        limit=MAX_BROWSER_PUSHES,
        consumer=message.tag,
    )
    return left is not None


async def _send(
    deps: NotificationsDeps, uid: UserId, tokens: Sequence[str], message: PushMessage
) -> PushOutcome:
    try:
        return await deps.push.send(uid, tokens, message)
    except Unavailable:
        return PushOutcome(retryable_tokens=tokens)


def _select_by_token(devices: Sequence[Device], tokens: Sequence[str]) -> list[Device]:
    return [device for device in devices if device.fcm_token in tokens]


def update_progress(
    delivery: Delivery, outcome: PushOutcome, reached_ids: Sequence[str], now: datetime
) -> Delivery:
    """Return the delivery after this attempt: unfinished while devices can be retried, else sent or failed."""
    progress = replace(
        delivery, reached=(*delivery.reached, *reached_ids), attempts=delivery.attempts + 1
    )
    if outcome.retryable_tokens and progress.attempts < MAX_ATTEMPTS:
        return progress
    reasons = {
        *outcome.refusal_reasons.values(),
        *([RETRIES_EXHAUSTED] if outcome.retryable_tokens else []),
    }
    failure = ", ".join(sorted(reasons)) or None
    if failure and not progress.reached:
        return replace(progress, failed_at=now, failure=failure)
    return replace(progress, sent_at=now, failure=failure)


async def record_dead_letter(
    deps: NotificationsDeps, target: str, ids: Mapping[str, str], delivery: Delivery
) -> None:
    """Record a dead letter if a device will never get this; a repeat writes the same letter."""
    if delivery.failure is None:
        return
    task_name, now = f"{target}-{ids['id']}", deps.clock.now()
    letter = DeadLetter(
        id=build_dead_letter_id("task", task_name, target, ids),
        kind="task",
        name=task_name,
        target=target,
        ids=ids,
        reason=f"push: {delivery.failure}",
        attempts=delivery.attempts,
        first_at=now,
        last_at=now,
    )
    telemetry.warning("dead_letter", letter=letter.id, target=target, name=task_name)
    await deps.stores.dead_letters.put(letter)


def truncate_json(text: str, max_bytes: int) -> str:
    """Shorten `text` to at most `max_bytes` as JSON, ending in … if it was cut."""
    if _count_json_bytes(text) <= max_bytes:
        return text
    max_text_bytes = max_bytes - _count_json_bytes("…")
    length = (
        bisect_right(range(len(text)), max_text_bytes, key=lambda n: _count_json_bytes(text[:n]))
        - 1
    )
    return text[:length] + "…"


def _count_json_bytes(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode()) - len('""')
