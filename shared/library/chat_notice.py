"""Chat notices: posts of apps that become messages of a chat."""

from typing import TYPE_CHECKING

from shared.domain.chat import Message, Session, build_main_session_id, build_session
from shared.domain.ids import MessageId
from shared.domain.notification import Notification

if TYPE_CHECKING:
    from shared.library.notify import PostedNotification


def build_chat_message(
    post: "PostedNotification", notification: Notification
) -> tuple[Session, Message]:
    """Return the chat of the app, or the main one, and the message to add to it."""
    app_id = None if post.is_for_main_chat else post.app.id
    session = build_session(build_main_session_id(app_id), app_id=app_id, now=post.at)
    message = Message(
        id=MessageId(post.id),
        session_id=session.id,
        text=notification.data["text"],
        sender="ai",
        created_at=post.at,
        app_id=app_id,
        from_integration=True,
        memories_id=(post.card.id,) if post.card else (),
        cards=(post.card,) if post.card else (),
    )
    return session, message
