"""Chat messages and the sessions they belong to."""

from dataclasses import replace
from typing import Any

from shared.data.codec import dump, load, load_all
from shared.domain.chat import Message, Session
from shared.domain.documents import Create, Delete, Increment, Order, Query, Update, Where
from shared.domain.errors import AlreadyExists, NotFound, PreconditionFailed
from shared.domain.ids import MessageId, SessionId, UserId
from shared.ports import Documents


class Messages:
    """A user's messages; a document's id is the message's id."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get(self, uid: UserId, message_id: MessageId) -> Message:
        """Raises NotFound."""
        document = await self._documents.get(_path(uid, message_id))
        if document is None:
            raise NotFound("Message not found")
        return load(Message, document)

    async def newest(self, uid: UserId, session_id: SessionId, *, limit: int) -> list[Message]:
        """Return a session's newest messages, newest first."""
        query = Query(
            collection=f"users/{uid}/messages",
            where=(Where("session_id", "==", session_id),),
            order_by=(Order("created_at", "desc"),),
            limit=limit,
        )
        return load_all(Message, await self._documents.query(query))

    async def add(self, uid: UserId, session: Session, *messages: Message) -> None:
        """Store new messages and count them in their session, all or none.

        Raises AlreadyExists when one of them is stored already: nothing is counted twice.
        """
        creates = [Create(_path(uid, m.id), dump(m)) for m in messages]
        path = f"users/{uid}/chat_sessions/{session.id}"
        count = Update(path, {"message_count": Increment(len(messages))})
        try:
            await self._documents.write(*creates, count)
        except AlreadyExists:
            raise
        except PreconditionFailed:
            await self._create_session(uid, session)
            await self._documents.write(*creates, count)

    async def _create_session(self, uid: UserId, session: Session) -> None:
        try:
            path = f"users/{uid}/chat_sessions/{session.id}"
            await self._documents.write(Create(path, dump(replace(session, message_count=0))))
        except PreconditionFailed:
            return  # another turn was first

    async def change(self, uid: UserId, message_id: MessageId, **changes: Any) -> None:
        """Change fields of a message. Raises NotFound."""
        try:
            await self._documents.write(Update(_path(uid, message_id), changes))
        except PreconditionFailed as missing:
            raise NotFound("Message not found") from missing

    async def clear(self, uid: UserId, session_id: SessionId) -> None:
        """Delete a session and its messages, in batches; other sessions keep theirs."""
        query = Query(
            collection=f"users/{uid}/messages",
            where=(Where("session_id", "==", session_id),),
            limit=450,
            fields=("session_id",),
        )
        while batch := await self._documents.query(query):
            await self._documents.write(*(Delete(document.path) for document in batch))
        await self._documents.write(Delete(f"users/{uid}/chat_sessions/{session_id}"))


def _path(uid: UserId, message_id: MessageId) -> str:
    """Raises NotFound for a name that would lead elsewhere."""
    if "/" in message_id:
        raise NotFound("Message not found")
    return f"users/{uid}/messages/{message_id}"


class Sessions:
    """A user's chat sessions."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get(self, uid: UserId, session_id: SessionId) -> Session | None:
        document = await self._documents.get(f"users/{uid}/chat_sessions/{session_id}")
        return load(Session, document) if document else None
