"""A user's chats: each a document that counts its messages and keeps what is derived from them."""

from typing import Any

from shared.data.codec import dump, load, load_all
from shared.data.paging import Page, page, position
from shared.domain.chat import Session
from shared.domain.documents import Create, Order, Query, Update, Where
from shared.domain.errors import NotFound, PreconditionFailed
from shared.domain.ids import AppId, SessionId, UserId, is_id
from shared.ports import Documents


class Sessions:
    """A user's chat sessions."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get(self, uid: UserId, session_id: SessionId) -> Session | None:
        document = await self._documents.get(session_path(uid, session_id))
        return load(Session, document) if document else None

    async def page(
        self,
        uid: UserId,
        *,
        app_id: AppId | None = None,
        starred: bool | None = None,
        limit: int,
        after: str | None = None,
    ) -> Page[Session]:
        """Return chats from the cursor `after` on, the one with the newest message first.

        None filters nothing.
        """
        filters = {"app_id": app_id, "starred": starred}
        query = Query(
            collection=f"users/{uid}/chat_sessions",
            where=tuple(Where(name, "==", v) for name, v in filters.items() if v is not None),
            order_by=(Order("updated_at", "desc"),),
            limit=limit,
            start_after=position(after),
        )
        found = await self._documents.query(query)
        return page(load_all(Session, found), found, query)

    async def add(self, uid: UserId, session: Session) -> None:
        await self._documents.write(Create(session_path(uid, session.id), dump(session)))

    async def change(self, uid: UserId, session_id: SessionId, **changes: Any) -> None:
        """Change fields. Raises NotFound."""
        try:
            await self._documents.write(Update(session_path(uid, session_id), changes))
        except PreconditionFailed as missing:
            raise NotFound("Chat session not found") from missing


def session_path(uid: UserId, session_id: SessionId) -> str:
    """Raises NotFound for what is no id."""
    if not is_id(session_id):
        raise NotFound("Chat session not found")
    return f"users/{uid}/chat_sessions/{session_id}"
