"""Chat messages: stored by id, each counted in its session."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from shared.data.chats.sessions import load_stored_session, session_path
from shared.data.store.codec import dump, dump_sparse, load, load_all
from shared.data.store.paging import Page, build_page, parse_cursor
from shared.domain.chats.branches import Path, add_fork
from shared.domain.chats.chat import Fork, LinkChoice, Message, Position, Session, build_session
from shared.domain.chats.chat_notes import AnswerNotes
from shared.domain.chats.steps import Step
from shared.domain.errors import AlreadyExists, NotFound, PreconditionFailed, Unavailable
from shared.domain.ids import MessageId, SessionId, UserId, is_id
from shared.domain.store.documents import (
    Create,
    Delete,
    Document,
    Increment,
    Order,
    Query,
    Set,
    Update,
    Where,
    Write,
    build_cursor,
)

if TYPE_CHECKING:
    from shared.ports import Documents, Transaction

MAX_PREVIEW_CHARS = 120
_LISTED = tuple(each.name for each in fields(Message) if each.name not in {"id", "diagnostics"})
"""The fields of a message in a list: what a turn cost is half of an answer, and read of one alone."""


class Messages:
    """A user's messages; a document's id is the message's id."""

    def __init__(self, documents: "Documents") -> None:
        self._documents = documents

    async def get(self, uid: UserId, message_id: MessageId) -> Message:
        """Raises NotFound."""
        document = await self._documents.get(message_path(uid, message_id))
        if document is None:
            raise NotFound("Message not found")
        return load(Message, document)

    async def list_newest(
        self,
        uid: UserId,
        session_id: SessionId,
        *,
        limit: int,
        before: Position | None = None,
        path: Path | None = None,
    ) -> list[Message]:
        """Return a session's newest messages, newest first; only those older than `before`.

        With a path, only those on it; else those of all branches.
        """
        order = Order("created_at", "desc")
        return await self._list_messages(uid, session_id, order, limit, before, path)

    async def list_after(
        self,
        uid: UserId,
        session_id: SessionId,
        after: Position | None,
        *,
        limit: int,
        path: Path | None = None,
    ) -> list[Message]:
        """Return a session's messages after a position, or all of them; oldest first.

        With a path, only those on it; else those of all branches.
        """
        order = Order("created_at")
        return await self._list_messages(uid, session_id, order, limit, after, path)

    async def list_page(
        self, uid: UserId, *, limit: int, after: str | None = None
    ) -> Page[Message]:
        """Return the texts of all sessions from the cursor `after` on, the newest first.

        Of each message only what names it, its text, and what of that a model wrote. Raises Invalid.
        """
        query = Query(
            collection=f"users/{uid}/messages",
            order_by=(Order("created_at", "desc"),),
            limit=limit,
            start_after=parse_cursor(after),
            fields=(
                "session_id",
                "text",
                "model_text",
                "sender",
                "created_at",
                "from_integration",
                "is_imported",
            ),
        )
        documents = await self._documents.query(query)
        return build_page(load_all(Message, documents), documents, query)

    async def _list_messages(
        self,
        uid: UserId,
        session_id: SessionId,
        order: Order,
        limit: int,
        after: Position | None,
        path: Path | None,
    ) -> list[Message]:
        """Read page after page until enough messages are on the path."""
        query = Query(
            collection=f"users/{uid}/messages",
            where=(Where("session_id", "==", session_id),),
            order_by=(order,),
            limit=limit,
            start_after=after,
            fields=_LISTED,
        )
        documents = await self._documents.query(query)
        messages = load_all(Message, documents)
        if path is None:
            return messages
        found = list(filter(path.includes, messages))
        while len(found) < limit and len(documents) == limit:
            query = replace(query, start_after=build_cursor(documents[-1], query))
            documents = await self._documents.query(query)
            found += filter(path.includes, load_all(Message, documents))
        return found[:limit]

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

    async def restore(self, uid: UserId, message: Message) -> None:
        """Store a message of an export, and count it; one that is stored under its id stays as it is."""
        paths = [message_path(uid, message.id), session_path(uid, message.session_id)]

        async def work(tx: "Transaction") -> None:
            known, document = await tx.get_many(paths)
            if known is not None:
                return
            session = load(Session, document) if document else _build_lost_session(message)
            is_newest = message.created_at >= session.updated_at
            counted = replace(
                session,
                message_count=session.message_count + 1,
                updated_at=max(session.updated_at, message.created_at),
                preview=build_preview(message) if is_newest else session.preview,
            )
            tx.write(Set(paths[0], dump_sparse(message)), Set(paths[1], dump(counted)))

        await self._documents.transaction(work)

    async def add_version(
        self,
        uid: UserId,
        session_id: SessionId,
        fork: Fork,
        *messages: Message,
        also: Sequence[Write] = (),
    ) -> None:
        """Begin a branch with its first messages, if any, and show it, as `add` stores messages.

        Raises AlreadyExists as `add` does, and PreconditionFailed when the session was deleted.
        """

        async def work(tx: "Transaction") -> None:
            session = await load_stored_session(tx, uid, session_id)
            forks = dump(replace(session, forks=add_fork(session.forks, fork)))["forks"]
            tx.write(Update(session_path(uid, session_id), {"forks": forks}))
            for write in (*also, *build_message_writes(uid, session_id, messages)):
                tx.write(write)

        await self._documents.transaction(work)

    async def add_correction(
        self, uid: UserId, session: Session, fork: Fork, correction: Message
    ) -> None:
        """Store a correction in a branch of its own, which `fork` says whether the chat shows.

        A repeat changes nothing, and neither does one for a chat that was deleted. Raises Unavailable
        where the chat has changed since `session` was read.
        """
        paths = [session_path(uid, session.id), message_path(uid, correction.id)]

        async def work(tx: "Transaction") -> bool:
            stored, known = await tx.get_many(paths)
            if stored is None or known is not None:
                return True
            if load(Session, stored) != session:
                return False
            tx.write(*_build_correction_writes(uid, session, fork, correction))
            return True

        if not await self._documents.transaction(work):
            raise Unavailable("The chat has changed meanwhile")

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

    async def change_steps(self, uid: UserId, message_id: MessageId, steps: Sequence[Step]) -> None:
        """Replace the steps of an answer. Raises NotFound."""
        await self.change(uid, message_id, steps=[dump(step) for step in steps])

    async def change_links(self, uid: UserId, message_id: MessageId, links: LinkChoice) -> None:
        """Replace what is known of the links of an answer. Raises NotFound."""
        await self.change(uid, message_id, links=dump(links))

    async def change_notes(
        self, uid: UserId, message_id: MessageId, change: Callable[[AnswerNotes], AnswerNotes]
    ) -> None:
        """Change the notes that an answer has now; nothing where it has none, or is gone."""
        path = message_path(uid, message_id)

        async def work(tx: "Transaction") -> None:
            document = await tx.get(path)
            notes = load(Message, document).notes if document else None
            if notes is not None:
                tx.write(Update(path, {"notes": dump(change(notes))}))

        await self._documents.transaction(work)

    async def clear(self, uid: UserId, session_id: SessionId) -> None:
        """Delete a session and its messages, in batches; other sessions keep theirs."""
        query = Query(
            collection=f"users/{uid}/messages",
            where=(Where("session_id", "==", session_id),),
            limit=100,
            fields=("session_id", "voices"),
        )
        while batch := await self._documents.query(query):
            await self._documents.write(
                *(each for found in batch for each in _build_deletes(found))
            )
        await self._documents.write(Delete(session_path(uid, session_id)))


def _build_deletes(document: Document) -> Iterator[Write]:
    """Yield the deletes of a message and of the answers that were given beside it."""
    for voice in range(len(document.fields.get("voices") or ())):
        yield Delete(f"{document.path}/alternatives/{voice}")
    yield Delete(document.path)


def build_message_writes(
    uid: UserId, session_id: SessionId, messages: Sequence[Message]
) -> list[Write]:
    """Return the writes that store new messages and count them; the session must exist."""
    if not messages:
        return []
    creates = [Create(message_path(uid, m.id), dump_sparse(m)) for m in messages]
    session_changes = {
        "message_count": Increment(len(messages)),
        "updated_at": messages[-1].created_at,
        "preview": build_preview(messages[-1]),
    }
    return [*creates, Update(session_path(uid, session_id), session_changes)]


def _build_correction_writes(
    uid: UserId, session: Session, fork: Fork, correction: Message
) -> list[Write]:
    """Return the writes of a correction; one that is not shown is not the chat's last message."""
    forks = add_fork(session.forks, fork) if fork.is_shown else (*session.forks, fork)
    changes: dict[str, Any] = {
        "forks": dump(replace(session, forks=tuple(forks)))["forks"],
        "message_count": Increment(1),
    }
    if fork.is_shown:
        changes |= {"updated_at": correction.created_at, "preview": build_preview(correction)}
    return [
        Create(message_path(uid, correction.id), dump_sparse(correction)),
        Update(session_path(uid, session.id), changes),
    ]


def build_preview(message: Message) -> str:
    """Return the beginning of a message, in one line."""
    return " ".join(message.text.split())[:MAX_PREVIEW_CHARS]


def _build_lost_session(message: Message) -> Session:
    """Build the chat of a message whose own one is not there."""
    return build_session(message.session_id, app_id=message.app_id, now=message.created_at)


def message_path(uid: UserId, message_id: MessageId) -> str:
    """Raises NotFound for what is no id."""
    if not is_id(message_id):
        raise NotFound("Message not found")
    return f"users/{uid}/messages/{message_id}"
