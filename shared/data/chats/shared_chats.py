"""Shared chats: links to single chats, by their tokens."""

from dataclasses import replace

from shared.data.chats.sessions import load_stored_session, session_path
from shared.data.store.codec import dump, load_all
from shared.domain.chats.shared_chat import SharedChat
from shared.domain.errors import NotFound, PreconditionFailed
from shared.domain.ids import SessionId, UserId, is_id
from shared.domain.store.documents import Delete, Set, Update
from shared.ports import Documents, Transaction


class SharedChats:
    """Links stand at the top, because whoever has one does not know its owner.

    The chat names its token too: a link holds only while both say the same.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def share(self, link: SharedChat) -> str:
        """Store a link and return its token; a link that there is keeps its token.

        Raises NotFound where the chat was deleted.
        """

        async def work(tx: Transaction) -> str:
            session = await load_stored_session(tx, link.uid, link.session_id)
            token = session.share_token or link.id
            tx.write(Update(session_path(link.uid, link.session_id), {"share_token": token}))
            tx.write(Set(_build_path(token), dump(replace(link, id=token))))
            return token

        try:
            return await self._documents.transaction(work)
        except PreconditionFailed as error:
            raise NotFound("Chat session not found") from error

    async def unshare(self, uid: UserId, session_id: SessionId) -> None:
        """End the link for good; a later one has another token. Raises NotFound."""

        async def work(tx: Transaction) -> None:
            session = await load_stored_session(tx, uid, session_id)
            if session.share_token is not None:
                tx.write(Update(session_path(uid, session_id), {"share_token": None}))
                tx.write(Delete(_build_path(session.share_token)))

        try:
            await self._documents.transaction(work)
        except PreconditionFailed as error:
            raise NotFound("Chat session not found") from error

    async def find(self, token: str) -> SharedChat | None:
        """Return the link of a token; its chat may be gone."""
        document = await self._documents.get(_build_path(token)) if is_id(token) else None
        return next(iter(load_all(SharedChat, [document])), None)


def _build_path(token: str) -> str:
    return f"shared_chats/{token}"
