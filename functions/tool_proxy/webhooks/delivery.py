"""Webhook delivery: the attempts to tell one recipient of a conversation or a daily summary.

Also called: callback, event subscription.
"""

from dataclasses import replace
from datetime import timedelta

from functions.tool_proxy.deps import DeliveryDeps
from functions.tool_proxy.registry.auto_disable import (
    disable_gone_webhook,
    disable_webhook_if_failing,
)
from functions.tool_proxy.webhooks import answers
from functions.tool_proxy.webhooks.proactive import notify_proactively
from functions.tool_proxy.webhooks.subjects import Subject, load_subject
from shared import telemetry
from shared.domain.apps.app import App, AppCall
from shared.domain.apps.webhook import WebhookDelivery
from shared.domain.errors import KeepsakeError, NotAllowed, QuotaExceeded, TimedOut, Unavailable
from shared.domain.value import value
from shared.library.webhook_recipients import (
    Recipient,
    disable_own_webhook,
    load_recipient,
    load_secrets,
)
from shared.library.webhook_tasks import build_delivery_id, queue_delivery
from shared.outbound.addresses import with_query
from shared.outbound.webhook_signature import sign
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
class DeliveryResult:
    """Result of an attempt; without an `error`, which the app's developer sees, it was delivered.

    `body` is what the recipient answered, `note` why that was not shown.
    """

    error: str | None = None
    is_gone: bool = False
    body: bytes = b""
    note: str | None = None


async def attempt_delivery(deps: DeliveryDeps, delivery: WebhookDelivery) -> None:
    """Make one attempt, unless it is done or no longer wanted; queue the next if it fails."""
    if await deps.stores.webhook_deliveries.is_done(delivery.uid, build_delivery_id(delivery)):
        telemetry.add_fields(outcome="repeated")
        return
    recipient = await load_recipient(deps.stores, delivery.uid, delivery.app_id, delivery.trigger)
    subject = await load_subject(deps, delivery, recipient.user_id) if recipient else None
    if recipient is None or subject is None:
        telemetry.add_fields(outcome="overtaken")
        return
    if not subject.is_complete:
        await _postpone(deps, delivery)
        return
    if subject.line_count and not await _count_live_words(deps, delivery, subject.line_count):
        telemetry.add_fields(outcome="refused", reason="quota")
        return
    await _deliver(deps, delivery, recipient, subject)


async def _count_live_words(deps: DeliveryDeps, delivery: WebhookDelivery, lines: int) -> bool:
    """Count live words that are about to be sent, for their user to see; False beyond the quota."""
    now = deps.clock.now()
    try:
        await deps.quotas.take(delivery.uid, "live_calls", now=now)
    except QuotaExceeded:
        return False
    if delivery.attempt == 1:
        await deps.stores.live_listeners.count(delivery.uid, delivery.app_id, now, lines=lines)
    return True


async def _postpone(deps: DeliveryDeps, delivery: WebhookDelivery) -> None:
    """Queue the next attempt: the conversation is processed again."""
    telemetry.add_fields(outcome="put off", attempt=delivery.attempt)
    if delivery.attempt < MAX_ATTEMPTS:
        await _queue_next(deps, delivery)


async def _queue_next(deps: DeliveryDeps, delivery: WebhookDelivery) -> None:
    at = deps.clock.now() + RETRY_DELAYS[delivery.attempt - 1]
    await queue_delivery(deps.tasks, delivery.next_attempt, at=at)


async def _deliver(
    deps: DeliveryDeps, delivery: WebhookDelivery, recipient: Recipient, subject: Subject
) -> None:
    started_at = deps.clock.now()
    result = await _post(deps, delivery, recipient, subject.payload)
    duration = deps.clock.now() - started_at
    telemetry.add_fields(outcome=result.error or "delivered", attempt=delivery.attempt)
    note = None
    if result.error is None:
        note = await _accept(deps, delivery, recipient, subject, result.body)
    elif result.is_gone:
        await _disable(deps, delivery, recipient)
    else:
        await _handle_failure(deps, delivery, recipient)
    if recipient.app is not None:
        ms = duration // timedelta(milliseconds=1)
        entry = _build_log_entry(deps, delivery, recipient, replace(result, note=note), ms=ms)
        await _log(deps, recipient.app, entry)


async def _post(
    deps: DeliveryDeps, delivery: WebhookDelivery, recipient: Recipient, body: bytes
) -> DeliveryResult:
    url = with_query(recipient.url, {"uid": recipient.user_id})
    secrets = await load_secrets(deps, delivery.uid, recipient)
    message_id = build_delivery_id(delivery)
    signature = sign(secrets, message_id, deps.clock.now(), method="POST", url=url, body=body)
    request = EgressRequest(
        method="POST",
        url=url,
        headers={"Content-Type": "application/json", **signature},
        body=body,
        timeout_s=TIMEOUT_S,
        max_bytes=answers.MAX_BYTES,
        is_body_needed=False,
        local_origins=recipient.app.local_origins if recipient.app else (),
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
        return DeliveryResult(body=response.body)
    return DeliveryResult(error=f"HTTP {response.status}", is_gone=response.status == 410)


async def _accept(
    deps: DeliveryDeps,
    delivery: WebhookDelivery,
    recipient: Recipient,
    subject: Subject,
    body: bytes,
) -> str | None:
    """Post what an app answered, and record that this is done; return why it was not shown."""
    note = None
    if recipient.app is not None:
        note = await answers.post_answer(deps, delivery, recipient.app, subject.card, body)
        if delivery.trigger == "transcript_processed":
            await notify_proactively(deps, delivery, recipient.app, body)
    delivery_id, now = build_delivery_id(delivery), deps.clock.now()
    await deps.stores.webhook_deliveries.mark_done(delivery.uid, delivery_id, now)
    return note


async def _disable(deps: DeliveryDeps, delivery: WebhookDelivery, recipient: Recipient) -> None:
    if recipient.app is not None:
        await disable_gone_webhook(deps, recipient.app)
    else:
        await disable_own_webhook(deps.stores, delivery.uid, delivery.trigger)


async def _handle_failure(
    deps: DeliveryDeps, delivery: WebhookDelivery, recipient: Recipient
) -> None:
    if delivery.attempt < MAX_ATTEMPTS:
        await _queue_next(deps, delivery)
    elif recipient.app is not None:
        await disable_webhook_if_failing(deps, recipient.app)


def _build_log_entry(
    deps: DeliveryDeps,
    delivery: WebhookDelivery,
    recipient: Recipient,
    result: DeliveryResult,
    *,
    ms: int,
) -> AppCall:
    is_last = delivery.attempt >= MAX_ATTEMPTS or result.is_gone
    final_error = f"given up after {delivery.attempt} attempts: {result.error}"
    return AppCall(
        id=deps.new_id(),
        at=deps.clock.now(),
        kind="webhook",
        name=delivery.trigger,
        ms=ms,
        user=telemetry.hash_id(f"{delivery.app_id}|{recipient.user_id}"),
        failed=result.error is not None,
        error=final_error if result.error and is_last else result.error or result.note,
    )


async def _log(deps: DeliveryDeps, app: App, entry: AppCall) -> None:
    """Add the attempt to the call log; if that fails, the delivery counts all the same."""
    try:
        await deps.stores.call_log.add(app.id, entry)
    except KeepsakeError as error:
        telemetry.warning("call_not_noted", error=type(error).__name__)
