"""What happens when an app has something to tell: may it, how often, and where does it go."""

from contextlib import suppress
from datetime import datetime

from functions.notifications.wiring import NotificationsDeps
from shared.domain.allowance import Allowance, allowed
from shared.domain.app import App
from shared.domain.chat import Message, main_session, new_session
from shared.domain.documents import Create
from shared.domain.errors import AlreadyExists, TooLarge
from shared.domain.hours import hour_of
from shared.domain.ids import MessageId, UserId
from shared.domain.notification import Delivery, Notification, NotificationId
from shared.domain.text import visible
from shared.domain.value import value

MAX_CHARS = 4000
PER_HOUR = 10
"""From one app to one user."""


@value
class Posted:
    """What an app tells a user, under the name and time of its first attempt."""

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


def accepted(message: str) -> str:
    """Return the text as it is kept. Raises TooLarge."""
    if len(message) > MAX_CHARS:
        raise TooLarge(f"message is too long. Maximum {MAX_CHARS} characters.")
    return visible(message)


async def notify(deps: NotificationsDeps, posted: Posted) -> Allowance:
    """Store what an app says where its manifest wants it, and have it delivered.

    Again with the same id, it goes on where it stopped. Raises TooMany.
    """
    notification = _notification(posted)
    allowance = await _store(deps, posted.uid, notification)
    if posted.is_for_chat:
        await _tell_in_chat(deps, posted, notification)
    if posted.is_for_push:
        ids = {"uid": posted.uid, "id": posted.id}
        await deps.tasks.create("deliver_notification", f"notification-{posted.id}", ids)
    return allowance


async def _store(deps: NotificationsDeps, uid: UserId, notification: Notification) -> Allowance:
    """Write slot and notification in one: what is counted is there, and nothing else.

    A chat's document is not among them: a rush for the last slots would meet there.
    """

    async def with_slot(slot: Create) -> None:
        await deps.inbox.add(uid, notification, beside=[slot])

    left = await deps.limits.take(
        uid,
        notification.app_id,
        hour=hour_of(notification.created_at),
        limit=PER_HOUR,
        taker=notification.id,
        store=with_slot,
    )
    return allowed(left, limit=PER_HOUR, of="notifications", now=deps.clock.now())


async def _tell_in_chat(
    deps: NotificationsDeps, posted: Posted, notification: Notification
) -> None:
    app_id = None if _speaks_in_main_chat(posted.app) else posted.app.id
    session = new_session(main_session(app_id), app_id=app_id, now=posted.at)
    message = Message(
        id=MessageId(posted.id),
        session_id=session.id,
        text=notification.data["text"],
        sender="ai",
        created_at=posted.at,
        app_id=app_id,
        from_integration=True,
    )
    with suppress(AlreadyExists):  # an earlier attempt told it
        await deps.messages.add(posted.uid, session, message)


def _notification(posted: Posted) -> Notification:
    """Build it with the data from which the mobile app makes the chat message that we store.

    It is in the inbox at once; what is for the chat alone is not, and has arrived.
    """
    app = posted.app
    to_main = _speaks_in_main_chat(app)
    data = {
        "id": posted.id,
        "created_at": posted.at.isoformat(),
        "sender": "ai",
        "from_integration": "true",
        "type": "text",
        "notification_type": "plugin",
        "plugin_id": app.id,
        "text": f"[{app.name}]: {posted.text}" if to_main else posted.text,
        "navigate_to": "/chat/omi" if to_main else f"/chat/{app.id}",
    }
    return Notification(
        id=posted.id,
        app_id=app.id,
        title=f"{app.name} says",
        body=posted.text,
        created_at=posted.at,
        data=data,
        delivered_at=posted.at if posted.is_for_push else None,
        delivery=Delivery(sent_at=None if posted.is_for_push else posted.at),
    )


def _speaks_in_main_chat(app: App) -> bool:
    wanted = app.external_integration
    return wanted.chat_messages_enabled and wanted.chat_messages_target == "main"
