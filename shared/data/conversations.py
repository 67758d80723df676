"""Conversations and their transcripts."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from shared.data.codec import dump, load, load_all
from shared.data.paging import Page, page, position
from shared.data.transcripts import Part, lay_out, part_fields, part_path, read_part
from shared.domain.conversation import Conversation, content_hash
from shared.domain.documents import Create, Document, Operator, Order, Query, Where
from shared.domain.errors import AlreadyExists, Conflict, NotFound, Unavailable
from shared.domain.ids import ConversationId, UserId, is_id
from shared.ports import Documents

_NEWEST_FIRST = (Order("created_at", "desc"),)
_WITHOUT_TRANSCRIPT = (
    "created_at", "started_at", "finished_at", "source", "language", "parts", "status",
    "discarded", "structured", "topics", "processed_hash", "chunk_count", "failure",
)  # fmt: skip


class Conversations:
    """A user's conversations; what is read one by one comes with its whole transcript."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get(self, uid: UserId, conversation_id: ConversationId) -> Conversation:
        """Raises NotFound."""
        found = await self.get_many(uid, [conversation_id])
        if not found:
            raise NotFound("Conversation not found")
        return found[0]

    async def get_many(
        self, uid: UserId, conversation_ids: Sequence[ConversationId]
    ) -> list[Conversation]:
        """Return those that exist, in the order of the ids; two reads in sequence at most."""
        paths = [conversation_path(uid, name) for name in conversation_ids if is_id(name)]
        found = await self._documents.get_many(paths)
        stored = load_all(Conversation, [document for document in found if document])
        return await self._with_transcripts(uid, stored)

    async def with_transcript(self, uid: UserId, conversation: Conversation) -> Conversation:
        """Read the parts. Raises Unavailable while one of them is not there yet."""
        return (await self._with_transcripts(uid, [conversation]))[0]

    async def add(self, uid: UserId, conversation: Conversation) -> Conversation:
        """Store it, once: the same content under the same id is what is stored already.

        Raises Conflict for other content under that id.
        """
        new, parts = lay_out(conversation)
        path = conversation_path(uid, new.id)
        beside = [Create(part_path(path, n), part_fields(part)) for n, part in enumerate(parts)]
        try:
            await self._documents.write(Create(path, dump(new)), *beside)
        except AlreadyExists:
            return await self._same(path, new)
        return new

    async def page(
        self, uid: UserId, *, limit: int, after: str | None = None
    ) -> Page[Conversation]:
        """List newest first, without transcripts. Raises Invalid for a cursor we did not give."""
        query = Query(
            collection=f"users/{uid}/conversations",
            order_by=_NEWEST_FIRST,
            limit=limit,
            start_after=position(after),
            fields=_WITHOUT_TRANSCRIPT,
        )
        found = await self._documents.query(query)
        return page(load_all(Conversation, found), found, query)

    async def between(
        self,
        uid: UserId,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int,
        with_segments: bool = False,
    ) -> list[Conversation]:
        """List what was processed and kept, by when it took place, newest first.

        `start` is included, `end` is not.
        """
        query = Query(
            collection=f"users/{uid}/conversations",
            where=(Where("discarded", "==", False), *_range(start, end)),  # noqa: FBT003 - a value
            order_by=(Order("started_at", "desc"),),
            limit=limit,
            fields=None if with_segments else _WITHOUT_TRANSCRIPT,
        )
        found = load_all(Conversation, await self._documents.query(query))
        return await self._with_transcripts(uid, found) if with_segments else found

    async def delete(self, uid: UserId, conversation_id: ConversationId) -> None:
        """Delete it with its parts and the model's answers. Raises NotFound."""
        if not is_id(conversation_id):
            raise NotFound("Conversation not found")
        if not await self._documents.delete_tree(conversation_path(uid, conversation_id)):
            raise NotFound("Conversation not found")

    async def _same(self, path: str, new: Conversation) -> Conversation:
        document = await self._documents.get(path)
        if document is None:
            raise Unavailable("The conversation was deleted at this moment")
        stored = load(Conversation, document)
        if content_hash(stored) != content_hash(new):
            raise Conflict("Another conversation is stored under this id")
        return stored

    async def _with_transcripts(
        self, uid: UserId, stored: Sequence[Conversation]
    ) -> list[Conversation]:
        paths = [
            part_path(conversation_path(uid, c.id), n) for c in stored for n in range(len(c.parts))
        ]
        documents = iter(await self._documents.get_many(paths) if paths else [])
        return [_joined(c, [next(documents) for _ in c.parts]) for c in stored]


def conversation_path(uid: UserId, conversation_id: ConversationId) -> str:
    return f"users/{uid}/conversations/{conversation_id}"


def _joined(conversation: Conversation, documents: Sequence[Document | None]) -> Conversation:
    if not conversation.parts:
        return conversation
    found = zip(documents, conversation.parts, strict=True)
    parts = [read_part(document, expected) for document, expected in found]
    whole: list[Part] = [part for part in parts if part is not None]
    if len(whole) < len(parts):
        raise Unavailable("A part of the transcript is not there yet")
    return replace(conversation, transcript_segments=tuple(s for part in whole for s in part))


def _range(start: datetime | None, end: datetime | None) -> tuple[Where, ...]:
    bounds: tuple[tuple[Operator, datetime | None], ...] = ((">=", start), ("<", end))
    return tuple(Where("started_at", operator, at) for operator, at in bounds if at)
