"""Deletion of a chat, with what was made of it."""

from contextlib import suppress
from dataclasses import replace

from functions.chat.deps import ChatDeps
from functions.chat.runs.drop_messages import drop_messages
from functions.chat.sealed import cached_chats
from functions.chat.sessions.chat_messages import load_app_name, store_greeting
from functions.chat.sessions.chat_sessions import get_session, resolve_session
from functions.chat.sessions.private_chats import SEALED_FIELDS
from shared.domain.chats.chat import Message, Session, build_session
from shared.domain.chats.storage_mode import is_private, is_sealed
from shared.domain.errors import Invalid, NotFound
from shared.domain.ids import AppId, SessionId, UserId
from shared.library.owner_memories import delete_memory


async def delete_chat(deps: ChatDeps, uid: UserId, session_id: SessionId) -> None:
    """Delete a chat with its messages and runs. Raises NotFound."""
    if is_sealed(session_id):
        await cached_chats.delete(deps, uid, session_id)
        return
    await get_session(deps, uid, session_id)
    await _delete_messages(deps, uid, session_id)


async def clear_chat(
    deps: ChatDeps,
    uid: UserId,
    app_id: AppId | None,
    session_id: SessionId | None = None,
    *,
    client_language: str | None = None,
) -> Message:
    """Delete the messages of this chat only; return the new first message.

    Raises NotFound, and Invalid for a sealed chat, whose clients delete its messages themselves.
    """
    session = await resolve_session(deps, uid, app_id, session_id)
    await load_app_name(deps, uid, session.app_id)
    await _clear_session(deps, uid, session)
    return await store_greeting(deps, uid, session, client_language)


async def _clear_session(deps: ChatDeps, uid: UserId, session: Session) -> None:
    """Delete the messages of a chat; one that the owner created keeps its settings."""
    if session.is_sealed:
        raise Invalid(SEALED_FIELDS)
    await _delete_messages(deps, uid, session.id)
    if not session.is_main:
        blank_session = build_session(
            session.id, app_id=session.app_id, now=session.created_at, title=session.title
        )
        await deps.stores.sessions.add(
            uid,
            replace(
                blank_session,
                title_kinds=session.title_kinds,
                starred=session.starred,
                focus=session.focus,
                agent_id=session.agent_id,
                project_id=session.project_id,
            ),
        )


async def _delete_messages(deps: ChatDeps, uid: UserId, session_id: SessionId) -> None:
    """Delete a chat's link, what is remembered of it, and its messages."""
    with suppress(NotFound):  # a chat without messages is not stored
        await deps.stores.shared_chats.unshare(uid, session_id)
    await _forget_stretches(deps, uid, session_id)
    await drop_messages(deps.stores, uid, session_id)
    await _forget_stretches(deps, uid, session_id)  # those that ended meanwhile


async def _forget_stretches(deps: ChatDeps, uid: UserId, session_id: SessionId) -> None:
    """Delete what is remembered of a chat: its arcs, and the facts that its owner did not make their own.

    A fact that recordings repeat passes to the first of them, without its evidence.
    """
    if is_private(session_id):
        return
    await deps.stores.arcs.delete_for_session(uid, session_id)
    async for memory in deps.stores.memories.iter_of_session(uid, session_id):
        if memory.is_user_owned:
            continue
        with suppress(NotFound):
            if memory.seen_in:
                await deps.stores.memories.pass_on(uid, memory)
            else:
                await delete_memory(deps.stores.memories, deps.index, uid, memory.id)
