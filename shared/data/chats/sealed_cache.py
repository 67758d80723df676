"""Sealed cache: which sealed chats of a user the server can answer in, at most three.

Their documents are sealed by the adapter. The chat that was used longest ago leaves in the same
transaction in which another one comes; without its session, nothing of it is read again.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from shared.data.chats.messages import build_preview, message_path
from shared.data.chats.sessions import session_path
from shared.data.store.codec import dump, dump_sparse, load, type_adapter
from shared.domain.chats.chat import Message, Session
from shared.domain.chats.sealed_chat import MAX_CACHED_CHATS, CachedChat
from shared.domain.errors import AlreadyExists
from shared.domain.ids import RunId, SessionId, UserId
from shared.domain.store.documents import Delete, Document, Set, Write
from shared.ports import Documents, Transaction


class SealedCache:
    """The chats of a user that are cached, in a document of ids and times."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def list_all(self, uid: UserId) -> list[CachedChat]:
        """Return the cached chats, the one that was used longest ago first."""
        return _load_chats(await self._documents.get(_build_path(uid)))

    async def find(self, uid: UserId, session_id: SessionId) -> CachedChat | None:
        return _find(await self.list_all(uid), session_id)

    async def touch(self, uid: UserId, session_id: SessionId, now: datetime) -> None:
        """Note that a chat is used, if it is cached."""

        async def work(tx: Transaction) -> None:
            chats = _load_chats(await tx.get(_build_path(uid)))
            found = _find(chats, session_id)
            if found is not None:
                used = [replace(found, used_at=now)]
                tx.write(_build_write(uid, _omit(chats, session_id) + used))

        await self._documents.transaction(work)

    async def put(
        self,
        uid: UserId,
        session: Session,
        messages: Sequence[Message],
        now: datetime,
        *,
        run_id: RunId | None = None,
    ) -> list[SessionId]:
        """Cache a chat with all of its messages, and return the chats that left for it.

        What is cached of it stays, except that a message of the same id is replaced. Raises AlreadyExists,
        and changes nothing, where the answer `run_id` has begun.
        """
        paths = [_build_path(uid), session_path(uid, session.id)]
        paths += [f"users/{uid}/runs/{run_id}"] if run_id else []

        async def work(tx: Transaction) -> list[SessionId]:
            index, stored, *begun = await tx.get_many(paths)
            if any(begun):
                raise AlreadyExists("The answer has begun")
            others = _omit(_load_chats(index), session.id)
            leaving = [chat.id for chat in others[: len(others) + 1 - MAX_CACHED_CHATS]]
            kept = others[len(leaving) :]
            cached = CachedChat(id=session.id, cached_at=now, used_at=now)
            known = load(Session, stored) if stored else session
            tx.write(
                _build_write(uid, [*kept, cached]),
                *(Delete(session_path(uid, name)) for name in leaving),
                Set(session_path(uid, session.id), dump(_count(known, messages))),
                *(Set(message_path(uid, message.id), dump_sparse(message)) for message in messages),
            )
            return leaving

        return await self._documents.transaction(work)

    async def remove(self, uid: UserId, session_id: SessionId) -> None:
        """Take a chat out of the cache with its session; its other documents are deleted by their stores."""

        async def work(tx: Transaction) -> None:
            chats = _load_chats(await tx.get(_build_path(uid)))
            tx.write(
                _build_write(uid, _omit(chats, session_id)), Delete(session_path(uid, session_id))
            )

        await self._documents.transaction(work)


def _find(chats: Sequence[CachedChat], session_id: SessionId) -> CachedChat | None:
    return next((chat for chat in chats if chat.id == session_id), None)


def _omit(chats: Sequence[CachedChat], session_id: SessionId) -> list[CachedChat]:
    return [chat for chat in chats if chat.id != session_id]


def _count(session: Session, messages: Sequence[Message]) -> Session:
    """Return the session of exactly these messages, in one branch."""
    last = messages[-1] if messages else None
    return replace(
        session.without_summary(),
        message_count=len(messages),
        updated_at=last.created_at if last else session.updated_at,
        preview=build_preview(last) if last else "",
        forks=(),
    )


_CHATS = type_adapter(list[CachedChat])


def _load_chats(document: Document | None) -> list[CachedChat]:
    chats: list[CachedChat] = _CHATS.validate_python(document.fields["chats"] if document else [])
    return sorted(chats, key=lambda chat: chat.used_at)


def _build_write(uid: UserId, chats: Sequence[CachedChat]) -> Write:
    return Set(_build_path(uid), {"chats": [dump(chat) for chat in chats]})


def _build_path(uid: UserId) -> str:
    return f"users/{uid}/sealed_cache/chats"
