"""Answers to webhooks: a message in one becomes a chat message of its app, and a push."""

import json

from functions.tool_proxy.deps import ToolProxyDeps
from shared.domain.account.notification import NotificationId
from shared.domain.apps.app import App
from shared.domain.apps.webhook import WebhookDelivery
from shared.domain.chats.chat import Card
from shared.domain.errors import TooMany
from shared.library.notify import MAX_TEXT_CHARS, PostedNotification, notify
from shared.library.webhook_tasks import build_delivery_id
from shared.outbound.untrusted_text import sanitize_result

MAX_BYTES = 65_536
OVER_THE_LIMIT = "message not shown: the notification limit of the hour is used up"


def parse_message(body: bytes) -> str:
    """Return the `message` of a JSON object, visible and shortened; empty where there is none."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    message = answer.get("message") if isinstance(answer, dict) else None
    return sanitize_result(message).strip()[:MAX_TEXT_CHARS] if isinstance(message, str) else ""


async def post_answer(
    deps: ToolProxyDeps, delivery: WebhookDelivery, app: App, card: Card | None, body: bytes
) -> str | None:
    """Post the message of an answer, once for each delivery.

    Returns why it was not shown, None if nothing is to be said. A repeat continues with the message
    of the first attempt.
    """
    text = parse_message(body)
    post_id = NotificationId(f"webhook-{build_delivery_id(delivery)}")
    stored = await deps.stores.inbox.get(delivery.uid, post_id) if text else None
    if not text:
        return None
    post = PostedNotification(
        id=post_id,
        at=stored.created_at if stored else deps.clock.now(),
        uid=delivery.uid,
        app=app,
        text=stored.body if stored else text,
        chat="always",
        card=card,
    )
    try:
        await notify(deps, post)
    except TooMany:
        return OVER_THE_LIMIT
    return None
