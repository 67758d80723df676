"""Alternatives: answers of the other models beside one that several gave, each under its voice."""

from collections.abc import Mapping
from dataclasses import replace

from shared.data.chats.messages import build_preview, message_path
from shared.data.chats.sessions import load_stored_session, session_path
from shared.data.store.codec import MalformedDocument, dump_sparse, load
from shared.domain.chats.chat import Message, Session
from shared.domain.errors import Conflict, NotFound, PreconditionFailed
from shared.domain.ids import MessageId, UserId
from shared.domain.store.documents import Create, Delete, Document, Query, Set, Update, Write
from shared.ports import Documents, Transaction

NO_SUCH_ANSWER = "There is no such answer."
CHAT_WENT_ON = "Only the last answer of a chat can be exchanged for that of another model."


class Alternatives:
    """A user's alternatives; the id of a document is the number of its voice."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def list_all(self, uid: UserId, message_id: MessageId) -> list[Message]:
        """Return the answers beside a message, in the order of their voices."""
        query = Query(collection=f"{message_path(uid, message_id)}/alternatives")
        documents = await self._documents.query(query)
        return sorted(_load_known(message_id, documents), key=lambda message: message.voice)

    async def choose(
        self, uid: UserId, session: Session, message_id: MessageId, voice: int
    ) -> Message:
        """Put the answer of a voice in the place of a message, whose text takes the other's place.

        A repeat changes nothing. Raises NotFound for an answer that is not there, and Conflict where
        the chat has changed since `session` was read.
        """

        async def work(tx: Transaction) -> Message:
            stored_session = await load_stored_session(tx, uid, session.id)
            path = alternative_path(uid, message_id, voice)
            shown_document, wanted = await tx.get_many([message_path(uid, message_id), path])
            if shown_document is None:
                raise NotFound("Message not found")
            shown = load(Message, shown_document)
            if shown.voices and shown.voice == voice:
                return shown
            if wanted is None:
                raise NotFound(NO_SUCH_ANSWER)
            if _find_state(stored_session) != _find_state(session):
                raise Conflict(CHAT_WENT_ON)
            chosen = _place(load(Message, wanted), shown, voice)
            tx.write(
                Set(shown_document.path, dump_sparse(chosen)),
                Set(alternative_path(uid, message_id, shown.voice), dump_sparse(shown)),
                Delete(path),
                Update(session_path(uid, session.id), {"preview": build_preview(chosen)}),
            )
            return chosen

        try:
            return await self._documents.transaction(work)
        except PreconditionFailed as error:
            raise NotFound("Chat session not found") from error

    async def restore(self, uid: UserId, alternative: Message) -> None:
        """Store an alternative of an export beside its message, unless one is there, or no message."""
        paths = [
            message_path(uid, alternative.id),
            alternative_path(uid, alternative.id, alternative.voice),
        ]

        async def work(tx: Transaction) -> None:
            message, known = await tx.get_many(paths)
            if message is None or known is not None:
                return
            shown = load(Message, message)
            if shown.voices and shown.voice != alternative.voice:
                tx.write(Set(paths[1], dump_sparse(alternative)))

        await self._documents.transaction(work)


def build_alternative_writes(
    uid: UserId, message_id: MessageId, alternatives: Mapping[int, Message]
) -> list[Write]:
    """Return the writes that store new alternatives, by their voices."""
    return [
        Create(alternative_path(uid, message_id, voice), dump_sparse(message))
        for voice, message in alternatives.items()
    ]


def alternative_path(uid: UserId, message_id: MessageId, voice: int) -> str:
    """Raises NotFound for a message whose name is no id."""
    return f"{message_path(uid, message_id)}/alternatives/{voice}"


def _load_known(message_id: MessageId, documents: list[Document]) -> list[Message]:
    known = []
    for document in documents:
        try:
            known.append(replace(load(Message, document), id=message_id))
        except MalformedDocument:
            continue
    return known


def _place(alternative: Message, shown: Message, voice: int) -> Message:
    """Return an alternative where another answer is shown."""
    return replace(
        alternative,
        id=shown.id,
        session_id=shown.session_id,
        created_at=shown.created_at,
        branch=shown.branch,
        voices=shown.voices,
        voice=voice,
    )


def _find_state(session: Session) -> tuple[object, ...]:
    """Return what changes with each new message or version."""
    return session.updated_at, session.message_count, session.forks
