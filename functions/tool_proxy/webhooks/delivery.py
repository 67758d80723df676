"""Webhook delivery: the apps that receive a conversation, and the attempts to send it to each."""

import asyncio
from dataclasses import asdict, replace
from datetime import timedelta

from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.registry.auto_disable import (
    disable_gone_webhook,
    disable_webhook_if_failing,
)
from functions.tool_proxy.webhooks.payload import build_payload
from shared import telemetry
from shared.domain.app import NEW_CONVERSATION_TRIGGER, App, AppCall, InstalledApp
from shared.domain.conversation import Conversation, content_hash
from shared.domain.errors import (
    KeepsakeError,
    NotAllowed,
    NotFound,
    TimedOut,
    Unavailable,
)
from shared.domain.ids import AppId, ConversationId, UserId
from shared.domain.value import value
from shared.outbound.addresses import with_query
from shared.outbound.webhook_signature import build_message_id, sign
from shared.ports import EgressRequest

TIMEOUT_S = 30
RETRY_DELAYS = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
)
"""Between attempts, as Standard Webhooks proposes: a server may be down overnight."""
MAX_ATTEMPTS = len(RETRY_DELAYS) + 1


@value
class WebhookDelivery:
    """One attempt to deliver a conversation, in the version of its hash, to one app."""

    uid: UserId
    app_id: AppId
    conversation_id: ConversationId
    content_hash: str
    attempt: int = 1

    @property
    def id(self) -> str:
        """Return the message id, the same for every attempt."""
        return build_message_id(self.uid, self.app_id, self.conversation_id, self.content_hash)

    @property
    def is_last(self) -> bool:
        return self.attempt >= MAX_ATTEMPTS

    @property
    def next_attempt(self) -> "WebhookDelivery":
        return replace(self, attempt=self.attempt + 1)


@value
class DeliveryResult:
    """Result of an attempt; without an `error`, which the app's developer sees, it was delivered."""

    error: str | None = None
    is_gone: bool = False


async def queue_deliveries(
    deps: ToolProxyDeps, uid: UserId, conversation_id: ConversationId, conversation_hash: str
) -> None:
    """Queue one delivery for each subscribed app; a repeat queues none."""
    installed_by_id = {
        installed_app.app_id: installed_app
        for installed_app in await deps.stores.installed_apps.list_all(uid)
    }
    apps = await deps.stores.apps.get_many(list(installed_by_id)) if installed_by_id else []
    for app in apps:
        if _is_subscribed(app, uid, installed_by_id[app.id]):
            delivery = WebhookDelivery(
                uid=uid,
                app_id=app.id,
                conversation_id=conversation_id,
                content_hash=conversation_hash,
            )
            await _queue_attempt(deps, delivery)


async def attempt_delivery(deps: ToolProxyDeps, delivery: WebhookDelivery) -> None:
    """Make one attempt, unless the conversation changed or is gone; queue the next if it fails."""
    recipient = await _load_recipient(deps, delivery)
    conversation = await _load_unchanged(deps, delivery) if recipient else None
    if recipient is None or conversation is None:
        telemetry.add_fields(outcome="overtaken")
        return
    if conversation.status != "completed":
        await _postpone(deps, delivery)
        return
    started_at = deps.clock.now()
    app = recipient.app
    result = await _post(deps, recipient, delivery, build_payload(conversation))
    telemetry.add_fields(outcome=result.error or "delivered", attempt=delivery.attempt)
    if result.is_gone:
        await disable_gone_webhook(deps, app)
    elif result.error and not delivery.is_last:
        await _queue_attempt(deps, delivery.next_attempt)
    elif result.error:
        await disable_webhook_if_failing(deps, app)
    duration = deps.clock.now() - started_at
    await _record_attempt(
        deps, recipient, delivery, result, ms=duration // timedelta(milliseconds=1)
    )


def _is_subscribed(app: App, uid: UserId, installation: InstalledApp) -> bool:
    is_on = app.switched_off is None and app.webhook_off is None
    is_allowed = "hear_conversations" in installation.get_permissions(app, uid)
    return is_on and app.is_visible_to(uid) and is_allowed


async def _queue_attempt(deps: ToolProxyDeps, delivery: WebhookDelivery) -> None:
    """Create the task of an attempt, once by its name; the first is due now."""
    at = deps.clock.now() + RETRY_DELAYS[delivery.attempt - 2] if delivery.attempt > 1 else None
    name = f"{delivery.id}-{delivery.attempt}"
    await deps.tasks.create("deliver_webhook", name, asdict(delivery), at=at)


async def _postpone(deps: ToolProxyDeps, delivery: WebhookDelivery) -> None:
    """Queue the next attempt: the conversation is processed again.

    Its event may have the same hash, and then queues nothing.
    """
    telemetry.add_fields(outcome="put off", attempt=delivery.attempt)
    if not delivery.is_last:
        await _queue_attempt(deps, delivery.next_attempt)


@value
class _Recipient:
    """A subscribed app, and the id by which it knows the user."""

    app: App
    app_uid: str


async def _load_recipient(deps: ToolProxyDeps, delivery: WebhookDelivery) -> _Recipient | None:
    """Return the app if it is still subscribed: its user may have removed it since."""
    installation, apps = await asyncio.gather(
        deps.stores.installed_apps.get(delivery.uid, delivery.app_id),
        deps.stores.apps.get_many([delivery.app_id]),
    )
    if not apps or installation is None:
        return None
    if not _is_subscribed(apps[0], delivery.uid, installation):
        return None
    return _Recipient(app=apps[0], app_uid=installation.get_app_uid(delivery.uid))


async def _load_unchanged(deps: ToolProxyDeps, delivery: WebhookDelivery) -> Conversation | None:
    """Return the conversation if its content is unchanged; a change has an event of its own."""
    try:
        conversation = await deps.stores.conversations.get(delivery.uid, delivery.conversation_id)
    except NotFound:
        return None
    is_unchanged = content_hash(conversation) == delivery.content_hash
    return conversation if is_unchanged and not conversation.discarded else None


async def _post(
    deps: ToolProxyDeps, recipient: _Recipient, delivery: WebhookDelivery, body: bytes
) -> DeliveryResult:
    app = recipient.app
    url = with_query(app.external_integration.webhook_url or "", {"uid": recipient.app_uid})
    now = deps.clock.now()
    secrets = await deps.signing_secrets.load(app, now)
    signature = sign(secrets, delivery.id, now, method="POST", url=url, body=body)
    request = EgressRequest(
        method="POST",
        url=url,
        headers={"Content-Type": "application/json", **signature},
        body=body,
        timeout_s=TIMEOUT_S,
        is_body_needed=False,
    )
    try:
        response = await deps.egress.send(request)
    except TimedOut:
        return DeliveryResult(error="timeout")
    except NotAllowed as refusal:
        return DeliveryResult(error=str(refusal))
    except Unavailable:
        return DeliveryResult(error="unreachable")
    if 200 <= response.status < 300:
        return DeliveryResult()
    return DeliveryResult(error=f"HTTP {response.status}", is_gone=response.status == 410)


async def _record_attempt(
    deps: ToolProxyDeps,
    recipient: _Recipient,
    delivery: WebhookDelivery,
    result: DeliveryResult,
    *,
    ms: int,
) -> None:
    """Add the attempt to the call log; if that fails, the delivery counts all the same."""
    is_last = delivery.is_last or result.is_gone
    final_error = f"given up after {delivery.attempt} attempts: {result.error}"
    entry = AppCall(
        id=deps.new_id(),
        at=deps.clock.now(),
        kind="webhook",
        name=NEW_CONVERSATION_TRIGGER,
        ms=ms,
        user=telemetry.hash_id(f"{delivery.app_id}|{recipient.app_uid}"),
        failed=result.error is not None,
        error=final_error if result.error and is_last else result.error,
    )
    try:
        await deps.stores.call_log.add(delivery.app_id, entry)
    except KeepsakeError as error:
        telemetry.warning("call_not_noted", error=type(error).__name__)
