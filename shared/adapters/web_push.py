"""Web Push: notifications of browsers that subscribed, encrypted for each of them.

A browser registers as a device whose token is its PushSubscription as JSON. The push service that it
names is a foreign address, so it is asked through the guarded egress.

Also called: browser notifications.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import anyio

from shared import telemetry
from shared.adapters.web_push_keys import WebPushKeys
from shared.domain.account.profile import is_subscription
from shared.domain.errors import KeepsakeError, Unavailable
from shared.domain.ids import UserId
from shared.ports import Egress, EgressRequest, Push, PushMessage, PushOutcome

TTL_S = 24 * 3600
"""For so long a push service keeps what it cannot deliver."""
TIMEOUT_S = 10.0
GONE = (404, 410)
MAX_AT_ONCE = 8

Outcome = Literal["sent", "dead", "later", "refused"]


class WebPush:
    """Sends to subscribed browsers; other tokens are left to `other`."""

    def __init__(
        self, egress: Egress, *, read_keys: Callable[[], WebPushKeys], contact: str, other: Push
    ) -> None:
        self._egress = egress
        self._read_keys = read_keys
        self._contact = contact
        self._other = other

    async def send(self, uid: UserId, tokens: Sequence[str], message: PushMessage) -> PushOutcome:
        subscriptions = [token for token in tokens if is_subscription(token)]
        rest = [token for token in tokens if token not in subscriptions]
        if not subscriptions:
            return await self._other.send(uid, rest, message)
        keys = (
            self._read_keys()
        )  # where that fails, nothing is sent yet, and no subscription is dead
        outcome = await self._other.send(uid, rest, message)
        outcomes = await self._send_to_all(subscriptions, message, keys)
        telemetry.info("web_push", uid=telemetry.hash_id(uid), tag=message.tag)
        return PushOutcome(
            sent_tokens=(*outcome.sent_tokens, *_select(outcomes, "sent")),
            dead_tokens=(*outcome.dead_tokens, *_select(outcomes, "dead")),
            retryable_tokens=(*outcome.retryable_tokens, *_select(outcomes, "later")),
            refusal_reasons={
                **outcome.refusal_reasons,
                **dict.fromkeys(_select(outcomes, "refused"), "WebPushRefused"),
            },
        )

    async def _send_to_all(
        self, tokens: Sequence[str], message: PushMessage, keys: WebPushKeys
    ) -> Mapping[str, Outcome]:
        outcomes: dict[str, Outcome] = {}
        limiter = anyio.CapacityLimiter(MAX_AT_ONCE)

        async def send(token: str) -> None:
            async with limiter:
                outcomes[token] = await self._send_one(token, message, keys)

        async with anyio.create_task_group() as group:
            for token in tokens:
                group.start_soon(send, token)
        return outcomes

    async def _send_one(self, token: str, message: PushMessage, keys: WebPushKeys) -> Outcome:
        """A subscription that is malformed or leads to an address of ours is dead."""
        if not message.title:
            return "sent"  # data for the mobile app; a browser must show what it gets
        try:
            request = self._build_request(token, message, keys)
        except ValueError:
            return "dead"
        try:
            response = await self._egress.send(request)
        except Unavailable:
            return "later"
        except KeepsakeError:
            return "dead"
        return _classify_status(response.status)

    def _build_request(self, token: str, message: PushMessage, keys: WebPushKeys) -> EgressRequest:
        """Encrypt the message for a browser (RFC 8291), signed by our key. Raises ValueError."""
        from webpush import WebPush as Encryption
        from webpush.types import WebPushSubscription

        subscription = WebPushSubscription.model_validate_json(token)
        encryption = Encryption(
            keys.private_pem, keys.public_pem, subscriber=self._contact, ttl=TTL_S
        )
        encrypted = encryption.get(_build_payload(message), subscription)
        return EgressRequest(
            method="POST",
            url=str(subscription.endpoint),
            headers={
                **{name: str(value) for name, value in encrypted.headers.items()},
                "content-type": "application/octet-stream",
                "topic": message.tag,
            },
            body=encrypted.encrypted,
            timeout_s=TIMEOUT_S,
            is_body_needed=False,
        )


def _build_payload(message: PushMessage) -> bytes:
    shown: dict[str, Any] = {"title": message.title, "body": message.body, "tag": message.tag}
    return json.dumps(shown, ensure_ascii=False).encode()


def _classify_status(status: int) -> Outcome:
    if 200 <= status < 300:
        return "sent"
    if status in GONE:
        return "dead"
    return "later" if status == 429 or status >= 500 else "refused"


def _select(outcomes: Mapping[str, Outcome], wanted: Outcome) -> tuple[str, ...]:
    return tuple(token for token, outcome in outcomes.items() if outcome == wanted)
