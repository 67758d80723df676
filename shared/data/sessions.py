"""Chat sessions: each a document that counts its messages and holds what is derived from them."""

from dataclasses import replace
from typing import Any

from shared.data.codec import dump, load, load_all
from shared.data.paging import Page, build_page, parse_cursor
from shared.domain.chat import Message, Session
from shared.domain.documents import Create, Order, Query, Update, Where
from shared.domain.errors import NotFound, PreconditionFailed
from shared.domain.ids import AppId, SessionId, UserId, is_id
from shared.ports import Documents, Transaction


class Sessions:
    """A user's chat sessions."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get(self, uid: UserId, session_id: SessionId) -> Session | None:
        document = await self._documents.get(session_path(uid, session_id))
        return load(Session, document) if document else None

    async def list_page(
        self,
        uid: UserId,
        *,
        app_id: AppId | None = None,
        starred: bool | None = None,
        limit: int,
        after: str | None = None,
    ) -> Page[Session]:
        """Return chats from the cursor `after` on, the one with the newest message first.

        A filter of None lets everything pass.
        """
        filters = {"app_id": app_id, "starred": starred}
        query = Query(
            collection=f"users/{uid}/chat_sessions",
            where=tuple(Where(name, "==", v) for name, v in filters.items() if v is not None),
            order_by=(Order("updated_at", "desc"),),
            limit=limit,
            start_after=parse_cursor(after),
        )
        documents = await self._documents.query(query)
        return build_page(load_all(Session, documents), documents, query)

    async def add(self, uid: UserId, session: Session) -> None:
        await self._documents.write(Create(session_path(uid, session.id), dump(session)))

    async def change(self, uid: UserId, session_id: SessionId, **changes: Any) -> None:
        """Change fields. Raises NotFound."""
        try:
            await self._documents.write(Update(session_path(uid, session_id), changes))
        except PreconditionFailed as error:
            raise NotFound("Chat session not found") from error

    async def update_derived(
        self, uid: UserId, expected_session: Session, *, source: Message, **changes: Any
    ) -> Session | None:
        """Change what is derived from `source`, and return the whole.

        None, and nothing is changed, where the session differs from `expected_session` (another
        process derived it meanwhile) or the message is gone: the chat was cleared or deleted.
        """
        path = session_path(uid, expected_session.id)

        async def work(tx: Transaction) -> Session | None:
            stored, message = await tx.get_many([path, f"users/{uid}/messages/{source.id}"])
            if stored is None or message is None:
                return None
            session = load(Session, stored)
            if any(getattr(session, name) != getattr(expected_session, name) for name in changes):
                return None
            changed = replace(session, **changes)
            fields = dump(changed)
            tx.write(Update(path, {name: fields[name] for name in changes}))
            return changed

        return await self._documents.transaction(work)


def session_path(uid: UserId, session_id: SessionId) -> str:
    """Raises NotFound for what is no id."""
    if not is_id(session_id):
        raise NotFound("Chat session not found")
    return f"users/{uid}/chat_sessions/{session_id}"
