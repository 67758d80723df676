"""Sealed chats in the cache: begun, read for a question, sent again by their clients, and forgotten."""

from asyncio import gather
from collections.abc import Sequence

from functions.chat.deps import ChatDeps, OpeningDeps
from functions.chat.runs.drop_messages import drop_messages
from shared.domain.chats.chat import Message, Session, build_session
from shared.domain.chats.embed import Embed
from shared.domain.chats.sealed_chat import SealedChat
from shared.domain.errors import HistoryMissing
from shared.domain.ids import RunId, SessionId, UserId


async def begin(deps: OpeningDeps, uid: UserId, session: Session) -> None:
    """Begin a sealed chat. Raises Conflict for a user who has too many."""
    await deps.stores.sealed_chats.create(uid, session.id, session.created_at)
    await _cache(deps, uid, session, ())


async def find_session(deps: OpeningDeps, uid: UserId, session_id: SessionId) -> Session:
    """Return a sealed chat as far as the server knows it. Raises NotFound."""
    chat, session = await gather(
        deps.stores.sealed_chats.get(uid, session_id), deps.stores.sessions.get(uid, session_id)
    )
    return session or _build_blank(chat)


async def find_cached(deps: OpeningDeps, uid: UserId, session_id: SessionId) -> Session:
    """Return a sealed chat for a question in it. Raises NotFound and HistoryMissing."""
    _, session, cached = await gather(
        deps.stores.sealed_chats.get(uid, session_id),
        deps.stores.sessions.get(uid, session_id),
        deps.stores.sealed_cache.find(uid, session_id),
    )
    if session is None or cached is None:
        is_lost = cached is not None and not cached.is_expired(deps.clock.now())
        raise HistoryMissing(reason="decryption_failed" if is_lost else "cache_miss")
    return session


def require_complete(session: Session, newest: Sequence[Message], *, limit: int) -> None:
    """Raise HistoryMissing where a turn that reads at most `limit` messages has fewer of a sealed chat than there are."""
    if session.is_sealed and len(newest) < min(session.message_count, limit):
        raise HistoryMissing(reason="insufficient_history")


async def cache_again(
    deps: OpeningDeps,
    uid: UserId,
    run_id: RunId,
    session_id: SessionId,
    messages: Sequence[Message],
    embeds: Sequence[Embed],
) -> None:
    """Cache what a client sends for the waiting question `run_id`; the newer version of an embed counts.

    Raises NotFound, and AlreadyExists where the answer has begun.
    """
    chat = await deps.stores.sealed_chats.get(uid, session_id)
    await gather(*(deps.stores.embeds.put(uid, embed) for embed in embeds))
    await _cache(deps, uid, _build_blank(chat), messages, run_id=run_id)


async def _cache(
    deps: OpeningDeps,
    uid: UserId,
    session: Session,
    messages: Sequence[Message],
    *,
    run_id: RunId | None = None,
) -> None:
    now = deps.clock.now()
    leaving = await deps.stores.sealed_cache.put(uid, session, messages, now, run_id=run_id)
    for session_id in leaving:
        await drop_messages(deps.stores, uid, session_id)


async def forget(deps: OpeningDeps, uid: UserId, session_id: SessionId) -> None:
    """Delete what is cached of a chat; its clients keep it."""
    await deps.stores.sealed_cache.remove(uid, session_id)
    await drop_messages(deps.stores, uid, session_id)


async def forget_all(deps: ChatDeps, uid: UserId) -> None:
    """Delete the key of all that is cached, then what it sealed."""
    await deps.data_keys.shred(uid)
    for cached in await deps.stores.sealed_cache.list_all(uid):
        await forget(deps, uid, cached.id)


async def delete(deps: OpeningDeps, uid: UserId, session_id: SessionId) -> None:
    """Delete a sealed chat, here and for other devices. Raises NotFound."""
    await deps.stores.sealed_chats.delete(uid, session_id, deps.clock.now())
    await forget(deps, uid, session_id)


def _build_blank(chat: SealedChat) -> Session:
    return build_session(chat.id, app_id=None, now=chat.created_at)
