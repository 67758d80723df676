"""What stands in the vector index for a conversation and its memories."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from anyio import to_thread

from shared.data.meanings import Meanings, Meant
from shared.domain.conversation import Conversation, Structured, content_hash
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memory import Memory
from shared.domain.vectors import MetadataValue, Row, SparseVector
from shared.ports import Embedder, Vectors
from shared.retrieval import meaning, sparse
from shared.retrieval.chunking import Chunk, chunks
from shared.retrieval.terms import fold

INDEX_VERSION = 3
"""Raised when rows are made differently: older ones are then rebuilt."""
NAMES_KEPT = 40
NAME_CHARS = 60
"""Keep the metadata of a row far below Pinecone's 40 KB."""


class LibraryIndex:
    """Writes rows whose ids depend on nothing but what they stand for: again is the same."""

    def __init__(self, vectors: Vectors, embedder: Embedder | None = None) -> None:
        self._vectors = vectors
        self._meanings = Meanings(vectors, embedder)

    async def put(
        self, uid: UserId, conversation: Conversation, memories: Sequence[Memory] = ()
    ) -> int:
        """Index a conversation whose segments are loaded; returns its new chunk count.

        Chunks beyond it, of `conversation.chunk_count` before, are deleted.
        """
        parts = chunks(conversation.spoken)
        rows = await to_thread.run_sync(
            lambda: [*_conversation_rows(uid, conversation, parts), *_memory_rows(uid, memories)]
        )
        await self._vectors.upsert(uid, await self._meanings.added(uid, rows))
        surplus = range(len(parts), conversation.chunk_count)
        if surplus:
            await self._vectors.delete(uid, [chunk_id(uid, conversation.id, n) for n in surplus])
        return len(parts)

    async def put_memories(self, uid: UserId, memories: Sequence[Memory]) -> None:
        """Index memories that were added or changed by themselves."""
        if not memories:
            return
        rows = await self._meanings.added(uid, list(_memory_rows(uid, memories)))
        await self._vectors.upsert(uid, rows)

    async def remove(self, uid: UserId, conversation_id: ConversationId, chunk_count: int) -> None:
        """Take a conversation out; its memories stay until they are removed by their ids."""
        parts = [chunk_id(uid, conversation_id, n) for n in range(chunk_count)]
        await self._vectors.delete(uid, [summary_id(uid, conversation_id), *parts])

    async def remove_memories(self, uid: UserId, ids: Sequence[MemoryId]) -> None:
        await self._vectors.delete(uid, [memory_row_id(uid, memory_id) for memory_id in ids])


def summary_id(uid: UserId, conversation_id: ConversationId) -> str:
    return f"{uid}-{conversation_id}"


def chunk_id(uid: UserId, conversation_id: ConversationId, number: int) -> str:
    return f"{uid}-{conversation_id}#{number}"


def memory_row_id(uid: UserId, memory_id: MemoryId) -> str:
    return f"{uid}-{memory_id}#m"


def memory_hash(memory: Memory) -> str:
    return hashlib.sha256(memory.content.encode()).hexdigest()


def _conversation_rows(
    uid: UserId, conversation: Conversation, parts: Sequence[Chunk]
) -> Iterator[Meant]:
    speakers = {part.speaker for part in parts}
    about = _about(uid, conversation, speakers)
    day = _day(conversation.started_at)
    told = summary_text(conversation.structured)
    summary = sparse.of_text(f"{day}\n{told}", speakers)
    row = _row(summary_id(uid, conversation.id), summary, {**about, "kind": "summary"})
    yield row, meaning.of_text(told)
    recipes = meaning.of_lines([f"{part.speaker}: {part.text}" for part in parts])
    for number, words in enumerate(sparse.of_chunks(parts, day)):
        metadata = {**about, "kind": "chunk", "segment": parts[number].segment}
        yield _row(chunk_id(uid, conversation.id, number), words, metadata), recipes[number]


def summary_text(structured: Structured) -> str:
    """Write what a conversation was about: title, overview, action items and events."""
    lines = [structured.title, structured.overview]
    lines += [item.description for item in structured.action_items]
    lines += [f"{event.title} {event.description}" for event in structured.events]
    return "\n".join(lines)


def _memory_rows(uid: UserId, memories: Sequence[Memory]) -> Iterator[Meant]:
    for memory in memories:
        metadata: dict[str, MetadataValue] = {
            "kind": "memory",
            "uid": uid,
            "memory_id": memory.id,
            "conversation_id": memory.conversation_id or "",
            "created_at": int(memory.created_at.timestamp()),
            "content_hash": memory_hash(memory),
            "index_version": INDEX_VERSION,
        }
        words = sparse.of_text(f"{_day(memory.created_at)}\n{memory.content}")
        yield _row(memory_row_id(uid, memory.id), words, metadata), meaning.of_text(memory.content)


def name_key(name: str) -> str:
    """Return what a name is filtered by, however it is written."""
    return " ".join(fold(name).split())[:NAME_CHARS]


def _about(
    uid: UserId, conversation: Conversation, speakers: Iterable[str]
) -> dict[str, MetadataValue]:
    topics = conversation.topics
    return {
        "uid": uid,
        "conversation_id": conversation.id,
        "created_at": int(conversation.started_at.timestamp()),
        "people": _names([*sorted(speakers), *topics.people]),
        "topics": _names(topics.topics),
        "entities": _names(topics.entities),
        "dates": [date[:NAME_CHARS] for date in topics.dates[:NAMES_KEPT]],
        "content_hash": content_hash(conversation),
        "index_version": INDEX_VERSION,
    }


def _names(names: Sequence[str]) -> list[str]:
    """Keep whole names first, then their words: "Zoë Krüger" is also asked for as "zoe"."""
    keys = [name_key(name) for name in names]
    words = [word for key in keys for word in key.split()]
    return list(dict.fromkeys(filter(None, [*keys, *words])))[:NAMES_KEPT]


def _day(time: datetime) -> str:
    """Say the day as people ask for it; it always gives a row its first terms."""
    return f"{time.day} {time:%B %Y}"


def _row(row_id: str, words: SparseVector, metadata: dict[str, MetadataValue]) -> Row:
    return Row(id=row_id, sparse=words, metadata=metadata)
