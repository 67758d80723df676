"""Posts of apps: the notification limit of an hour, the inbox entry, the chat message and the task."""

from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from shared.data.account.inbox import build_notification_write
from shared.data.store.hourly_limits import LimitWrite
from shared.data.stores import Stores
from shared.domain.account.notification import APP_POST, Delivery, Notification, NotificationId
from shared.domain.apps.app import App
from shared.domain.errors import TooLarge
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.resilience.hour_windows import floor_to_hour
from shared.resilience.rate_limit_status import RateLimitStatus, check_limit
from shared.security.visible_text import strip_invisible

if TYPE_CHECKING:
    from shared.domain.chats.chat import Card
    from shared.ports import Clock, Tasks

MAX_TEXT_CHARS = 4000
MAX_PER_HOUR = 10
"""Notification limit of one app for one user, in a UTC hour."""
ChatRule = Literal["as_declared", "always", "never"]
"""Whether a post becomes a chat message: as the app's manifest declares, or whatever it declares."""


class NotifyDeps(Protocol):
    """The part of a function's dependencies that a post needs."""

    @property
    def clock(self) -> "Clock": ...

    @property
    def tasks(self) -> "Tasks": ...

    @property
    def stores(self) -> Stores: ...


@value
class PostedNotification:
    """A notification of an app; a repeated request has the id and time of its first attempt.

    A chat message shows `card`, the conversation that it is about.
    """

    id: NotificationId
    at: datetime
    uid: UserId
    app: App
    text: str
    chat: ChatRule = "as_declared"
    card: "Card | None" = None

    @property
    def is_for_chat(self) -> bool:
        is_declared = self.app.external_integration.chat_messages_enabled
        return self.chat == "always" or (self.chat == "as_declared" and is_declared)

    @property
    def is_for_main_chat(self) -> bool:
        integration = self.app.external_integration
        return integration.chat_messages_enabled and integration.chat_messages_target == "main"

    @property
    def is_for_push(self) -> bool:
        """Tell whether it is pushed: a manifest that asks for chat messages decides."""
        integration = self.app.external_integration
        is_declared_for_chat = self.chat != "never" and integration.chat_messages_enabled
        return not is_declared_for_chat or integration.chat_messages_notify


def validate_text(message: str) -> str:
    """Return the text without invisible characters. Raises TooLarge."""
    if len(message) > MAX_TEXT_CHARS:
        raise TooLarge(f"message is too long. Maximum {MAX_TEXT_CHARS} characters.")
    return strip_invisible(message)


async def notify(deps: NotifyDeps, post: PostedNotification) -> RateLimitStatus:
    """Store a notification in the inbox, and in the chat if the manifest says so; queue its delivery.

    A repeat with the same id continues where the first attempt stopped. Raises TooMany.
    """
    notification = _build_notification(post)
    limit_status = await _store(deps, post, notification)
    if post.is_for_push:
        ids = {"uid": post.uid, "id": post.id}
        await deps.tasks.create("deliver_notification", f"notification-{post.id}", ids)
    return limit_status


async def _store(
    deps: NotifyDeps, post: PostedNotification, notification: Notification
) -> RateLimitStatus:
    """Write limit, inbox and chat in one commit, so that exactly the stored ones are counted."""

    async def store_with_limit(limit: LimitWrite) -> None:
        if not post.is_for_chat:
            return await deps.stores.inbox.add(post.uid, notification, also=[limit])
        from shared.library.chat_notice import build_chat_message

        session, message = build_chat_message(
            notification,
            chat_app_id=None if post.is_for_main_chat else post.app.id,
            card=post.card,
        )
        also = [limit, build_notification_write(post.uid, notification)]
        return await deps.stores.messages.add(post.uid, session, message, also=also)

    left = await deps.stores.hourly_limits.consume(
        post.uid,
        notification.app_id,
        hour=floor_to_hour(notification.created_at),
        limit=MAX_PER_HOUR,
        consumer=notification.id,
        store=store_with_limit,
    )
    return check_limit(left, limit=MAX_PER_HOUR, noun="notifications", now=deps.clock.now())


def _build_notification(post: PostedNotification) -> Notification:
    """Build the notification, with the data from which the mobile app shows the chat message.

    One for the chat alone is not shown in the inbox and counts as delivered.
    """
    app = post.app
    data = {
        "id": post.id,
        "created_at": post.at.isoformat(),
        "sender": "ai",
        "from_integration": "true",
        "type": "text",
        "notification_type": APP_POST,
        "plugin_id": app.id,
        "text": f"[{app.name}]: {post.text}" if post.is_for_main_chat else post.text,
        "navigate_to": "/chat/omi" if post.is_for_main_chat else f"/chat/{app.id}",
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
