"""One push to all of a user's devices: what it says in 4 KB, and how far it came."""

import hashlib
import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from functions.notifications.wiring import NotificationsDeps
from shared import telemetry
from shared.domain.dead_letter import DeadLetter, letter_id
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.domain.notification import Delivery
from shared.domain.profile import Device
from shared.ports import PushMessage, PushOutcome

TITLE_BYTES = 300
TEXT_BYTES = 1400
"""The text stands in a push twice; the rest of 4,096 bytes is ids, times and field names."""
ATTEMPTS = 8
"""Fewer than the queue makes: who gives up says why."""
GIVEN_UP = "Unavailable"


def push_message(
    uid: UserId, name: str, *, title: str, body: str, data: Mapping[str, str]
) -> PushMessage:
    """Build the same message, with the same tag, on every attempt; it takes at most 4 KB."""
    return PushMessage(
        title=clip(title, TITLE_BYTES),
        body=clip(body, TEXT_BYTES),
        data={**data, "text": clip(data.get("text", body), TEXT_BYTES)},
        tag=hashlib.sha256(f"{uid}:{name}".encode()).hexdigest()[:16],
    )


async def push(
    deps: NotificationsDeps, uid: UserId, message: PushMessage, delivery: Delivery
) -> Delivery:
    """Send it to the devices that it has not reached yet, and forget those that are gone."""
    devices = [d for d in await deps.devices.all(uid) if d.id not in delivery.reached]
    outcome = await _send(deps, uid, [device.fcm_token for device in devices], message)
    dead = _of(devices, outcome.dead)
    if dead:
        await deps.devices.forget(uid, dead)
    telemetry.note(
        devices=len(devices),
        dead=len(dead),
        later=len(outcome.later),
        refused=len(outcome.refused),
    )
    reached = [device.id for device in _of(devices, outcome.sent)]
    return progressed(delivery, outcome, reached, deps.clock.now())


async def _send(
    deps: NotificationsDeps, uid: UserId, tokens: Sequence[str], message: PushMessage
) -> PushOutcome:
    try:
        return await deps.push.send(uid, tokens, message)
    except Unavailable:
        return PushOutcome(later=tokens)


def _of(devices: Sequence[Device], tokens: Sequence[str]) -> list[Device]:
    return [device for device in devices if device.fcm_token in tokens]


def progressed(
    delivery: Delivery, outcome: PushOutcome, reached: Sequence[str], now: datetime
) -> Delivery:
    """Say how far a push came with this attempt; after the last one it has failed or arrived."""
    so_far = replace(
        delivery, reached=(*delivery.reached, *reached), attempts=delivery.attempts + 1
    )
    if outcome.later and so_far.attempts < ATTEMPTS:
        return so_far
    reasons = {*outcome.refused.values(), *([GIVEN_UP] if outcome.later else [])}
    failure = ", ".join(sorted(reasons)) or None
    if failure and not so_far.reached:
        return replace(so_far, failed_at=now, failure=failure)
    return replace(so_far, sent_at=now, failure=failure)


async def bury(
    deps: NotificationsDeps, target: str, ids: Mapping[str, str], delivery: Delivery
) -> None:
    """Leave a dead letter for what some device will never get; again, it is the same letter."""
    if delivery.failure is None:
        return
    name, now = f"{target}-{ids['id']}", deps.clock.now()
    letter = DeadLetter(
        id=letter_id("task", name, target, ids),
        kind="task",
        name=name,
        target=target,
        ids=ids,
        reason=f"push: {delivery.failure}",
        attempts=delivery.attempts,
        first_at=now,
        last_at=now,
    )
    await deps.dead_letters.put(letter)


def clip(text: str, max_bytes: int) -> str:
    """Cut `text` so that it takes at most `max_bytes` as JSON, and show that it was cut."""
    if _json_bytes(text) <= max_bytes:
        return text
    room = max_bytes - _json_bytes("…")
    kept = bisect_right(range(len(text)), room, key=lambda n: _json_bytes(text[:n])) - 1
    return text[:kept] + "…"


def _json_bytes(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode()) - len('""')
