"""What happens when an app has something to tell: may it, how often, and where does it go."""

from datetime import datetime

from functions.notifications.limits import PER_HOUR, Allowance, hour_of, seconds_left
from functions.notifications.wiring import NotificationsDeps
from shared.domain.app import App
from shared.domain.chat import Message, main_session, new_session
from shared.domain.errors import NotAllowed, NotAuthenticated, TooLarge, TooMany
from shared.domain.ids import AppId, MessageId, UserId, is_id
from shared.domain.notification import Notification, NotificationId
from shared.domain.text import visible
from shared.domain.value import value

MAX_CHARS = 4000


@value
class Posted:
    """What an app asks us to tell a user; `authorization` is the header as it came."""

    app_id: AppId
    uid: UserId
    message: str
    authorization: str | None


async def notify(
    deps: NotificationsDeps, posted: Posted, *, chat_allowed: bool = True
) -> Allowance:
    """Store what an app says where its manifest wants it, and have it delivered.

    Raises NotAuthenticated, NotAllowed, NotFound, TooLarge, TooMany, checked in this order.
    """
    app = await _permitted(deps, posted)
    text = _accepted(posted.message)
    now = deps.clock.now()
    notification = _notification(app, NotificationId(deps.new_id()), text, now)
    allowance = await _take_slot(deps, posted.uid, notification)
    wanted = app.external_integration
    in_chat = chat_allowed and wanted.chat_messages_enabled
    if in_chat:
        await _store_in_chat(deps, posted.uid, app, notification)
    if not in_chat or wanted.chat_messages_notify:
        await _queue(deps, posted.uid, notification)
    return allowance


async def _permitted(deps: NotificationsDeps, posted: Posted) -> App:
    """Return the app if it proves who it is and the user installed it."""
    key = _api_key(posted.authorization)
    if not is_id(posted.app_id) or not await deps.apps.accepts_key(posted.app_id, key):
        raise NotAllowed("Invalid API key")
    app = await deps.apps.get(posted.app_id)
    if not is_id(posted.uid) or not await _may_notify(deps, posted.uid, app):
        raise NotAllowed("User does not have this app installed")
    return app


async def _may_notify(deps: NotificationsDeps, uid: UserId, app: App) -> bool:
    return app.is_visible_to(uid) and await deps.installed_apps.has(uid, app.id)


def _api_key(authorization: str | None) -> str:
    scheme, _, key = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not key:
        raise NotAuthenticated("Missing or invalid Authorization header. Must be 'Bearer API_KEY'")
    return key


def _accepted(message: str) -> str:
    if len(message) > MAX_CHARS:
        raise TooLarge(f"message is too long. Maximum {MAX_CHARS} characters.")
    return visible(message)


async def _take_slot(deps: NotificationsDeps, uid: UserId, notification: Notification) -> Allowance:
    now = notification.created_at
    reset_s = seconds_left(now)
    left = await deps.limits.take(
        uid, notification.app_id, hour=hour_of(now), limit=PER_HOUR, taker=notification.id
    )
    if left is None:
        text = f"Rate limit exceeded. Maximum {PER_HOUR} notifications per hour."
        raise TooMany(text, retry_after_s=reset_s)
    return Allowance(remaining=left, reset_s=reset_s)


def _notification(
    app: App, notification_id: NotificationId, text: str, now: datetime
) -> Notification:
    """Build it with the data from which the mobile app makes the chat message that we store."""
    to_main = _speaks_in_main_chat(app)
    data = {
        "id": notification_id,
        "created_at": now.isoformat(),
        "sender": "ai",
        "from_integration": "true",
        "type": "text",
        "notification_type": "plugin",
        "plugin_id": app.id,
        "text": f"[{app.name}]: {text}" if to_main else text,
        "navigate_to": "/chat/omi" if to_main else f"/chat/{app.id}",
    }
    title = f"{app.name} says"
    return Notification(
        id=notification_id, app_id=app.id, title=title, body=text, created_at=now, data=data
    )


def _speaks_in_main_chat(app: App) -> bool:
    wanted = app.external_integration
    return wanted.chat_messages_enabled and wanted.chat_messages_target == "main"


async def _store_in_chat(
    deps: NotificationsDeps, uid: UserId, app: App, notification: Notification
) -> None:
    app_id = None if _speaks_in_main_chat(app) else app.id
    at = notification.created_at
    session = new_session(main_session(app_id), app_id=app_id, now=at)
    message = Message(
        id=MessageId(notification.id),
        session_id=session.id,
        text=notification.data["text"],
        sender="ai",
        created_at=at,
        app_id=app_id,
        from_integration=True,
    )
    await deps.messages.add(uid, session, message)


async def _queue(deps: NotificationsDeps, uid: UserId, notification: Notification) -> None:
    """Store first: the task carries ids, and finds what it delivers however soon it runs."""
    await deps.inbox.add(uid, notification)
    ids = {"uid": uid, "id": notification.id}
    await deps.tasks.create("deliver_notification", f"notification-{notification.id}", ids)
