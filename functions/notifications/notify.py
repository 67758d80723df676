"""Posts of apps: permission, the notification limit of an hour, the inbox entry and its task."""

from contextlib import suppress
from datetime import datetime

from functions.notifications.deps import NotificationsDeps
from shared.domain.app import App
from shared.domain.chat import Message, build_main_session_id, build_session
from shared.domain.documents import Create
from shared.domain.errors import AlreadyExists, TooLarge
from shared.domain.ids import MessageId, UserId
from shared.domain.notification import Delivery, Notification, NotificationId
from shared.domain.value import value
from shared.resilience.hour_windows import floor_to_hour
from shared.resilience.rate_limit_status import RateLimitStatus, check_limit
from shared.security.visible_text import strip_invisible

MAX_TEXT_CHARS = 4000
MAX_PER_HOUR = 10
"""Notification limit of one app for one user, in a UTC hour."""


@value
class PostedNotification:
    """A notification of an app; a repeated request has the id and time of its first attempt."""

    id: NotificationId
    at: datetime
    uid: UserId
    app: App
    text: str
    chat_allowed: bool = True

    @property
    def is_for_chat(self) -> bool:
        return self.chat_allowed and self.app.external_integration.chat_messages_enabled

    @property
    def is_for_push(self) -> bool:
        return not self.is_for_chat or self.app.external_integration.chat_messages_notify


def validate_text(message: str) -> str:
    """Return the text without invisible characters. Raises TooLarge."""
    if len(message) > MAX_TEXT_CHARS:
        raise TooLarge(f"message is too long. Maximum {MAX_TEXT_CHARS} characters.")
    return strip_invisible(message)


async def notify(deps: NotificationsDeps, post: PostedNotification) -> RateLimitStatus:
    """Store a notification in the inbox, and in the chat if the manifest says so; queue its delivery.

    A repeat with the same id continues where the first attempt stopped. Raises TooMany.
    """
    notification = _build_notification(post)
    limit_status = await _store(deps, post.uid, notification)
    if post.is_for_chat:
        await _add_chat_message(deps, post, notification)
    if post.is_for_push:
        ids = {"uid": post.uid, "id": post.id}
        await deps.tasks.create("deliver_notification", f"notification-{post.id}", ids)
    return limit_status


async def _store(
    deps: NotificationsDeps, uid: UserId, notification: Notification
) -> RateLimitStatus:
    """Write slot and notification in one batch, so that exactly the stored ones are counted.

    The chat message is written apart: requests that compete for the last slots would conflict on
    the chat's document.
    """

    async def store_with_slot(slot: Create) -> None:
        await deps.stores.inbox.add(uid, notification, also=[slot])

    slots_left = await deps.stores.hourly_limits.consume(
        uid,
        notification.app_id,
        hour=floor_to_hour(notification.created_at),
        limit=MAX_PER_HOUR,
        consumer=notification.id,
        store=store_with_slot,
    )
    return check_limit(slots_left, limit=MAX_PER_HOUR, noun="notifications", now=deps.clock.now())


async def _add_chat_message(
    deps: NotificationsDeps, post: PostedNotification, notification: Notification
) -> None:
    app_id = None if _is_for_main_chat(post.app) else post.app.id
    session = build_session(build_main_session_id(app_id), app_id=app_id, now=post.at)
    message = Message(
        id=MessageId(post.id),
        session_id=session.id,
        text=notification.data["text"],
        sender="ai",
        created_at=post.at,
        app_id=app_id,
        from_integration=True,
    )
    with suppress(AlreadyExists):  # written by an earlier attempt
        await deps.stores.messages.add(post.uid, session, message)


def _build_notification(post: PostedNotification) -> Notification:
    """Build the notification, with the data from which the mobile app shows the chat message.

    One for the chat alone is not shown in the inbox and counts as delivered.
    """
    app = post.app
    is_for_main_chat = _is_for_main_chat(app)
    data = {
        "id": post.id,
        "created_at": post.at.isoformat(),
        "sender": "ai",
        "from_integration": "true",
        "type": "text",
        "notification_type": "plugin",
        "plugin_id": app.id,
        "text": f"[{app.name}]: {post.text}" if is_for_main_chat else post.text,
        "navigate_to": "/chat/omi" if is_for_main_chat else f"/chat/{app.id}",
    }
    return Notification(
        id=post.id,
        app_id=app.id,
        title=f"{app.name} says",
        body=post.text,
        created_at=post.at,
        data=data,
        delivered_at=post.at if post.is_for_push else None,
        delivery=Delivery(sent_at=None if post.is_for_push else post.at),
    )


def _is_for_main_chat(app: App) -> bool:
    integration = app.external_integration
    return integration.chat_messages_enabled and integration.chat_messages_target == "main"
