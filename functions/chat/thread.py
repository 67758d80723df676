"""What the owner does with a chat besides asking: read it, begin it again, report, rate."""

from functions.chat.turn import app_for
from functions.chat.wiring import ChatDeps
from shared import prompts
from shared.domain.chat import Message, Session, main_session
from shared.domain.errors import AlreadyExists, Invalid
from shared.domain.ids import AppId, MessageId, UserId

PAGE = 100


async def newest(deps: ChatDeps, uid: UserId, app_id: AppId | None) -> list[Message]:
    """Return the chat's newest messages, newest first; an empty chat begins with a greeting."""
    found = await deps.messages.newest(uid, main_session(app_id), limit=PAGE)
    return found or [await begin(deps, uid, app_id)]


async def begin(deps: ChatDeps, uid: UserId, app_id: AppId | None) -> Message:
    """Store and return the chat's first message; asked twice, it is still one message.

    Raises NotFound for an app this user cannot see.
    """
    app = await app_for(deps, uid, app_id)
    profile = await deps.profiles.get(uid)
    name = f" {profile.name}" if profile.name else ""
    session_id = main_session(app_id)
    now = deps.clock.now()
    message = Message(
        id=MessageId(f"initial-{session_id}"),
        session_id=session_id,
        text=prompts.render("chat/initial_message", name=name, app=app.name if app else "Keepsake"),
        sender="ai",
        created_at=now,
        app_id=app_id,
    )
    try:
        session = Session(id=session_id, created_at=now, app_id=app_id)
        await deps.messages.add(uid, session, message)
    except AlreadyExists:
        return await deps.messages.get(uid, message.id)
    return message


async def clear(deps: ChatDeps, uid: UserId, app_id: AppId | None) -> Message:
    """Delete this chat's messages, and no other's; return the new first message."""
    await app_for(deps, uid, app_id)
    await deps.messages.clear(uid, main_session(app_id))
    return await begin(deps, uid, app_id)


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
