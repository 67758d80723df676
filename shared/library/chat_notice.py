"""Chat notices: posts of apps that become messages of a chat."""

from shared.domain.account.notification import Notification
from shared.domain.chats.chat import Card, Message, Session, build_main_session_id, build_session
from shared.domain.ids import AppId, MessageId


def build_chat_message(
    notification: Notification, *, chat_app_id: AppId | None, card: Card | None
) -> tuple[Session, Message]:
    """Return the chat of an app, or the main one, and the message to add to it."""
    session = build_session(
        build_main_session_id(chat_app_id), app_id=chat_app_id, now=notification.created_at
    )
    message = Message(
        id=MessageId(notification.id),
        session_id=session.id,
        text=notification.data["text"],
        sender="ai",
        created_at=notification.created_at,
        app_id=chat_app_id,
        from_integration=True,
        memories_id=(card.id,) if card else (),
        cards=(card,) if card else (),
    )
    return session, message
