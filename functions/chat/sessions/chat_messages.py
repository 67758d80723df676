"""Messages of a chat: list, greet, report and rate them."""

import asyncio
from collections.abc import Sequence

from functions.chat import user_texts
from functions.chat.deps import OpeningDeps
from functions.chat.runs.lapsed_runs import close_unanswered_run
from functions.chat.sessions.chat_sessions import (
    get_session,
    require_visible_app,
    resolve_session,
)
from shared.domain.chats.branches import build_shown_path
from shared.domain.chats.chat import Message, Position, Session, build_greeting_id
from shared.domain.chats.feedback import Feedback, Thumb
from shared.domain.errors import AlreadyExists, Invalid, NotFound
from shared.domain.ids import AppId, MessageId, SessionId, UserId
from shared.domain.value import value
from shared.languages import translate

PAGE_SIZE = 100


@value
class ShownMessages:
    """Messages of a chat's shown versions, newest first, and the chat."""

    session: Session
    messages: Sequence[Message]


async def list_newest(
    deps: OpeningDeps,
    uid: UserId,
    app_id: AppId | None,
    session_id: SessionId | None = None,
    *,
    client_language: str | None = None,
) -> ShownMessages:
    """Return the chat's newest messages; an empty chat begins with a greeting.

    Raises NotFound for an app or a session this user cannot see.
    """
    session = await resolve_session(deps, uid, app_id, session_id)
    messages = await _list_shown(deps, uid, session)
    if messages and await close_unanswered_run(
        deps.stores.runs, uid, session, messages[0], now=deps.clock.now()
    ):
        messages = await _list_shown(deps, uid, session)
    return ShownMessages(
        session=session,
        messages=messages or await _list_greeting(deps, uid, session, client_language),
    )


async def _list_greeting(
    deps: OpeningDeps, uid: UserId, session: Session, client_language: str | None
) -> list[Message]:
    """Return the first message of an empty chat; a sealed one may be empty here alone."""
    return [] if session.is_sealed else [await store_greeting(deps, uid, session, client_language)]


async def list_before(
    deps: OpeningDeps, uid: UserId, session_id: SessionId, before_id: MessageId
) -> ShownMessages:
    """Return the messages before another. Raises NotFound for an unknown one."""
    before_message = await deps.stores.messages.get(uid, before_id)
    if before_message.session_id != session_id:
        raise NotFound("Message not found")
    session = await get_session(deps, uid, session_id)
    messages = await _list_shown(deps, uid, session, before_message.position)
    return ShownMessages(session=session, messages=messages)


async def _list_shown(
    deps: OpeningDeps, uid: UserId, session: Session, before: Position | None = None
) -> list[Message]:
    return await deps.stores.messages.list_newest(
        uid, session.id, limit=PAGE_SIZE, before=before, path=build_shown_path(session.forks)
    )


async def ensure_greeting(
    deps: OpeningDeps,
    uid: UserId,
    app_id: AppId | None,
    session_id: SessionId | None = None,
    *,
    client_language: str | None = None,
) -> Message:
    """Store and return the chat's first message; a repeat returns the same message.

    Raises NotFound for an app or a session this user cannot see.
    """
    session = await resolve_session(deps, uid, app_id, session_id)
    return await store_greeting(deps, uid, session, client_language)


async def store_greeting(
    deps: OpeningDeps, uid: UserId, session: Session, client_language: str | None
) -> Message:
    """Store the first message of a chat, unless it is sealed or has one. Raises NotFound for its app.

    It is in the language of the client where its owner chose none.
    """
    profile, app = await asyncio.gather(
        deps.stores.profiles.get(uid), load_app_name(deps, uid, session.app_id)
    )
    name = f" {profile.name}" if profile.name else ""
    message = Message(
        id=build_greeting_id(session.id),
        session_id=session.id,
        text=translate(
            user_texts.GREETING, profile.language or client_language, name=name, app=app
        ),
        model_text="",
        sender="ai",
        created_at=deps.clock.now(),
        app_id=session.app_id,
    )
    if session.is_sealed:
        return message
    try:
        await deps.stores.messages.add(uid, session, message)
    except AlreadyExists:
        return await deps.stores.messages.get(uid, message.id)
    return message


async def load_app_name(deps: OpeningDeps, uid: UserId, app_id: AppId | None) -> str:
    """Return the name of who answers. Raises NotFound for an app that this user cannot see."""
    return (
        require_visible_app(await deps.stores.apps.get(app_id), uid).name if app_id else "Keepsake"
    )


async def report(deps: OpeningDeps, uid: UserId, message_id: MessageId) -> None:
    """Mark an answer as reported. Raises NotFound, or Invalid with the texts that the app shows."""
    message = await deps.stores.messages.get(uid, message_id)
    if message.sender != "ai":
        raise Invalid("Only AI messages can be reported")
    if message.reported:
        raise Invalid("Message already reported")
    await deps.stores.messages.change(uid, message_id, reported=True)


async def rate(
    deps: OpeningDeps, uid: UserId, message_id: MessageId, rating: int, reason: str | None
) -> None:
    """Store a rating and its reason, and count it; 0 removes it. Raises NotFound."""
    message = await deps.stores.messages.get(uid, message_id)
    await deps.stores.messages.change(uid, message_id, rating=rating or None, rating_reason=reason)
    if not rating:
        await deps.stores.feedback.remove(uid, message_id)
        return
    await deps.stores.feedback.set(
        uid,
        Feedback(
            id=message_id,
            source="answer",
            thumb="positive" if rating > 0 else "negative",
            created_at=deps.clock.now(),
            model=message.metadata.get("model", ""),
            route=message.route,
        ),
    )


async def rate_chat(deps: OpeningDeps, uid: UserId, session_id: SessionId, thumb: Thumb) -> None:
    """Store what the owner thinks of a chat so far; one of each of its lengths. Raises NotFound."""
    session = await get_session(deps, uid, session_id)
    await deps.stores.feedback.set(
        uid,
        Feedback(
            id=f"{session.id}-{session.message_count}",
            source="chat",
            thumb=thumb,
            created_at=deps.clock.now(),
            turn_count=session.message_count // 2,
        ),
    )
