"""What the owner does with a chat besides asking: read it, begin it again, report, rate."""

import asyncio

from functions.chat.closing import close_unanswered
from functions.chat.sessions import empty, find, visible_app
from functions.chat.wiring import ChatDeps
from shared import prompts
from shared.domain.chat import Message, Session
from shared.domain.errors import AlreadyExists, Invalid, NotFound
from shared.domain.ids import AppId, MessageId, SessionId, UserId

PAGE = 100


async def newest(
    deps: ChatDeps, uid: UserId, app_id: AppId | None, session_id: SessionId | None = None
) -> list[Message]:
    """Return the chat's newest messages, newest first; an empty chat begins with a greeting.

    Raises NotFound for an app or a session this user cannot see.
    """
    session = await find(deps, uid, app_id, session_id)
    found = await deps.messages.newest(uid, session.id, limit=PAGE)
    if found and await close_unanswered(deps.runs, uid, found[0], now=deps.clock.now()):
        found = await deps.messages.newest(uid, session.id, limit=PAGE)
    return found or [await _greet(deps, uid, session)]


async def older(
    deps: ChatDeps, uid: UserId, session_id: SessionId, before: MessageId
) -> list[Message]:
    """Return what stands before a message, newest first. Raises NotFound where it is not."""
    last = await deps.messages.get(uid, before)
    if last.session_id != session_id:
        raise NotFound("Message not found")
    return await deps.messages.newest(uid, session_id, limit=PAGE, before=last.position)


async def begin(
    deps: ChatDeps, uid: UserId, app_id: AppId | None, session_id: SessionId | None = None
) -> Message:
    """Store and return the chat's first message; asked twice, it is still one message.

    Raises NotFound for an app or a session this user cannot see.
    """
    return await _greet(deps, uid, await find(deps, uid, app_id, session_id))


async def clear(
    deps: ChatDeps, uid: UserId, app_id: AppId | None, session_id: SessionId | None = None
) -> Message:
    """Delete this chat's messages, and no other's; return the new first message."""
    session = await find(deps, uid, app_id, session_id)
    await _app(deps, uid, session.app_id)
    await empty(deps, uid, session)
    return await _greet(deps, uid, session)


async def _greet(deps: ChatDeps, uid: UserId, session: Session) -> Message:
    name, app = await asyncio.gather(_name(deps, uid), _app(deps, uid, session.app_id))
    message = Message(
        id=MessageId(f"initial-{session.id}"),
        session_id=session.id,
        text=prompts.render("chat/initial_message", name=name, app=app),
        sender="ai",
        created_at=deps.clock.now(),
        app_id=session.app_id,
    )
    try:
        await deps.messages.add(uid, session, message)
    except AlreadyExists:
        return await deps.messages.get(uid, message.id)
    return message


async def _name(deps: ChatDeps, uid: UserId) -> str:
    name = (await deps.profiles.get(uid)).name
    return f" {name}" if name else ""


async def _app(deps: ChatDeps, uid: UserId, app_id: AppId | None) -> str:
    return visible_app(await deps.apps.get(app_id), uid).name if app_id else "Keepsake"


async def report(deps: ChatDeps, uid: UserId, message_id: MessageId) -> None:
    """Mark an answer as reported. Raises NotFound, or Invalid with the texts the app shows."""
    message = await deps.messages.get(uid, message_id)
    if message.sender != "ai":
        raise Invalid("Only AI messages can be reported")
    if message.reported:
        raise Invalid("Message already reported")
    await deps.messages.change(uid, message_id, reported=True)


async def rate(
    deps: ChatDeps, uid: UserId, message_id: MessageId, value: int, reason: str | None
) -> None:
    """Store a thumb and why; 0 takes it back. Raises NotFound."""
    await deps.messages.change(uid, message_id, rating=value or None, rating_reason=reason)
