"""Alternatives of an answer: those of the other models, of which the owner may choose one."""

from functions.chat.deps import ChatDeps
from functions.chat.sessions.chat_sessions import get_session
from shared.data.chats.alternatives import CHAT_WENT_ON
from shared.domain.chats.branches import build_shown_path
from shared.domain.chats.chat import Message
from shared.domain.errors import Conflict
from shared.domain.ids import MessageId, UserId


async def list_alternatives(deps: ChatDeps, uid: UserId, message_id: MessageId) -> list[Message]:
    """Return the answers beside a message. Raises NotFound."""
    message = await deps.stores.messages.get(uid, message_id)
    return await deps.stores.alternatives.list_all(uid, message.id) if message.voices else []


async def choose_alternative(
    deps: ChatDeps, uid: UserId, message_id: MessageId, voice: int
) -> Message:
    """Show the answer of another model, which the next turn then reads; return it.

    Raises NotFound, and Conflict where it is not the last message of its chat.
    """
    message = await deps.stores.messages.get(uid, message_id)
    session = await get_session(deps, uid, message.session_id)
    newest = await deps.stores.messages.list_newest(
        uid, session.id, limit=1, path=build_shown_path(session.forks)
    )
    if not newest or newest[0].id != message.id:
        raise Conflict(CHAT_WENT_ON)
    return await deps.stores.alternatives.choose(uid, session, message.id, voice)
