"""Chat messages: stored by id, each counted in its session."""

from collections.abc import Sequence
from typing import Any

from shared.data.codec import dump, load, load_all
from shared.data.sessions import session_path
from shared.domain.chat import Message, Position, Session, build_session
from shared.domain.documents import (
    Create,
    Delete,
    Increment,
    Order,
    Query,
    Update,
    Where,
    Write,
)
from shared.domain.errors import AlreadyExists, NotFound, PreconditionFailed
from shared.domain.ids import MessageId, SessionId, UserId, is_id
from shared.ports import Documents

MAX_PREVIEW_CHARS = 120


class Messages:
    """A user's messages; a document's id is the message's id."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get(self, uid: UserId, message_id: MessageId) -> Message:
        """Raises NotFound."""
        document = await self._documents.get(message_path(uid, message_id))
        if document is None:
            raise NotFound("Message not found")
        return load(Message, document)

    async def list_newest(
        self, uid: UserId, session_id: SessionId, *, limit: int, before: Position | None = None
    ) -> list[Message]:
        """Return a session's newest messages, newest first; only those older than `before`."""
        return await self._list_messages(
            uid, session_id, Order("created_at", "desc"), limit, before
        )

    async def list_after(
        self, uid: UserId, session_id: SessionId, after: Position | None, *, limit: int
    ) -> list[Message]:
        """Return a session's messages after a position, or all of them; oldest first."""
        return await self._list_messages(uid, session_id, Order("created_at"), limit, after)

    async def _list_messages(
        self, uid: UserId, session_id: SessionId, order: Order, limit: int, after: Position | None
    ) -> list[Message]:
        query = Query(
            collection=f"users/{uid}/messages",
            where=(Where("session_id", "==", session_id),),
            order_by=(order,),
            limit=limit,
            start_after=after,
        )
        return load_all(Message, await self._documents.query(query))

    async def add(
        self, uid: UserId, session: Session, *messages: Message, also: Sequence[Write] = ()
    ) -> None:
        """Store new messages, count them in their session and make the writes `also`, all or none.

        A main session begins with its first message. Raises AlreadyExists when one of them is
        stored already, and PreconditionFailed when any other session was deleted.
        """
        writes = [*also, *build_message_writes(uid, session.id, messages)]
        try:
            await self._documents.write(*writes)
        except AlreadyExists:
            raise
        except PreconditionFailed:
            if not session.is_main:
                raise
            await self._create_session(uid, session)
            await self._documents.write(*writes)

    async def _create_session(self, uid: UserId, session: Session) -> None:
        """Create a session anew: where it was cleared meanwhile, nothing derived is left."""
        empty_session = build_session(session.id, app_id=session.app_id, now=session.created_at)
        try:
            await self._documents.write(Create(session_path(uid, session.id), dump(empty_session)))
        except PreconditionFailed:
            return  # another turn created it

    async def change(self, uid: UserId, message_id: MessageId, **changes: Any) -> None:
        """Change fields of a message. Raises NotFound."""
        try:
            await self._documents.write(Update(message_path(uid, message_id), changes))
        except PreconditionFailed as error:
            raise NotFound("Message not found") from error

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
        await self._documents.write(Delete(session_path(uid, session_id)))


def build_message_writes(
    uid: UserId, session_id: SessionId, messages: Sequence[Message]
) -> list[Write]:
    """Return the writes that store new messages and count them; the session must exist."""
    creates = [Create(message_path(uid, m.id), dump(m)) for m in messages]
    session_changes = {
        "message_count": Increment(len(messages)),
        "updated_at": messages[-1].created_at,
        "preview": " ".join(messages[-1].text.split())[:MAX_PREVIEW_CHARS],
    }
    return [*creates, Update(session_path(uid, session_id), session_changes)]


def message_path(uid: UserId, message_id: MessageId) -> str:
    """Raises NotFound for what is no id."""
    if not is_id(message_id):
        raise NotFound("Message not found")
    return f"users/{uid}/messages/{message_id}"
