"""Library index: the rows by which search finds conversations and memories.

Also called: upsert, search index.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain

from anyio import to_thread

from shared.data.search.dense_vectors import DenseVectors, RowWithText
from shared.domain.conversations.conversation import Conversation, Structured, content_hash
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.vectors import Hit, MetadataValue, Row, SparseVector
from shared.ports import Embedder, Vectors
from shared.retrieval import sparse
from shared.retrieval.chunking import split_into_chunks
from shared.retrieval.dense_windows import WINDOW_CHARS, Window, format_window, split_into_windows
from shared.retrieval.terms import fold

INDEX_VERSION = 7
"""Raised when rows are built differently; `make reindex-all` builds older ones anew."""
SEARCHED_INDEX_VERSIONS = (3, 4, 5, 6, INDEX_VERSION)
"""Search skips other rows. Up to version 6 people stood in rows by the name they had,
and words of other languages as they were written; in version 5 a dense window was of four turns, up to version 4 each turn had dense
values of its own; in version 3 a few rare words have other stems."""
MAX_NAMES = 40
MAX_NAME_CHARS = 60
"""Keep the metadata of a row far below Pinecone's 40 KB."""


class LibraryIndex:
    """Writes rows whose ids depend only on what they stand for, so that writes are idempotent.

    The first row of a window has its dense values. `scheme` names how rows are built: those of
    another one can be built anew. With `awaits_embedder` writes raise Unavailable while it is down.
    """

    def __init__(
        self,
        vectors: Vectors,
        embedder: Embedder | None = None,
        *,
        window_chars: int = WINDOW_CHARS,
        awaits_embedder: bool = False,
    ) -> None:
        self.scheme = f"{INDEX_VERSION} {embedder.name}" if embedder else str(INDEX_VERSION)
        self._vectors = vectors
        self._window_chars = window_chars
        self._dense_vectors = DenseVectors(vectors, embedder, awaits_embedder=awaits_embedder)

    async def put(
        self, uid: UserId, conversation: Conversation, memories: Sequence[Memory] = ()
    ) -> int:
        """Index a conversation whose segments are loaded; return its new chunk count.

        Chunks beyond it, of `conversation.chunk_count` before, are deleted.
        """
        rows, chunk_count = await to_thread.run_sync(self._build_rows, uid, conversation, memories)
        # An index answers about a hundred fetches a second: the usual case, a new one, makes none.
        was_indexed = bool(conversation.chunk_count or conversation.processed_hash)
        dense_rows = await self._dense_vectors.add_dense(uid, rows, are_stored=was_indexed)
        await self._vectors.upsert(uid, dense_rows)
        surplus = range(chunk_count, conversation.chunk_count)
        if surplus:
            await self._vectors.delete(uid, [chunk_id(uid, conversation.id, n) for n in surplus])
        return chunk_count

    def _build_rows(
        self, uid: UserId, conversation: Conversation, memories: Sequence[Memory]
    ) -> tuple[list[RowWithText], int]:
        """Return the rows of a conversation and of its memories, and how many chunks they hold."""
        parts = split_into_chunks(conversation.named_segments, conversation.person_names)
        windows = split_into_windows(parts, self._window_chars)
        conversation_rows = _build_conversation_rows(uid, conversation, windows)
        return [*conversation_rows, *_build_memory_rows(uid, memories)], len(parts)

    async def put_memories(self, uid: UserId, memories: Sequence[Memory]) -> None:
        """Index those that are current, without their conversation."""
        if rows := list(_build_memory_rows(uid, memories)):
            await self._vectors.upsert(uid, await self._dense_vectors.add_dense(uid, rows))

    async def remove(self, uid: UserId, conversation_id: ConversationId, chunk_count: int) -> None:
        """Remove a conversation's rows; those of its memories are removed by their ids."""
        parts = [chunk_id(uid, conversation_id, n) for n in range(chunk_count)]
        await self._vectors.delete(uid, [summary_id(uid, conversation_id), *parts])

    async def remove_chunks(
        self, uid: UserId, conversation_id: ConversationId, chunk_count: int
    ) -> None:
        """Remove the rows of what was said; the conversation is still found by its summary."""
        if chunk_count:
            rows = [chunk_id(uid, conversation_id, n) for n in range(chunk_count)]
            await self._vectors.delete(uid, rows)

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


def list_segments(hit: Hit) -> list[int]:
    """Return the segments of a hit on a chunk by words, or on a window of chunks by its vector."""
    segments = hit.metadata.get("window")
    if isinstance(segments, list) and not hit.term_weights:
        return list(map(int, segments))
    return [int(str(hit.metadata["segment"]))]


def list_row_ids(hit: Hit) -> list[str]:
    """Return the ids of the rows that a hit stands for: of all chunks of a window."""
    segments = hit.metadata.get("window")
    if not isinstance(segments, list):
        return [hit.id]
    prefix, _, first = hit.id.rpartition("#")
    return [f"{prefix}#{number}" for number in range(int(first), int(first) + len(segments))]


def _build_conversation_rows(
    uid: UserId, conversation: Conversation, windows: Sequence[Window]
) -> Iterator[RowWithText]:
    parts = list(chain.from_iterable(windows))
    speakers = {part.speaker for part in parts if part.speaker}
    speaking = sorted({part.person_id for part in parts if part.person_id})
    people = {name: conversation.person_names[name] for name in speaking}
    common_metadata = _build_common_metadata(uid, conversation, speakers, speaking)
    day = _format_day(conversation.started_at)
    overview = build_summary_text(conversation.structured)
    language = conversation.language
    summary = sparse.encode_text(overview, day, speakers=speakers, people=people, language=language)
    row = _build_row(
        summary_id(uid, conversation.id), summary, {**common_metadata, "kind": "summary"}
    )
    yield row, overview
    encoded = sparse.encode_chunks(parts, day, people=people, language=language)
    places = chain.from_iterable(map(_describe_window, windows))
    for number, (sparse_vector, (place, text)) in enumerate(zip(encoded, places, strict=True)):
        metadata = {**common_metadata, "kind": "chunk", **place}
        yield _build_row(chunk_id(uid, conversation.id, number), sparse_vector, metadata), text


def _describe_window(window: Window) -> Iterator[tuple[dict[str, MetadataValue], str | None]]:
    """Yield where each chunk stands, and with the first one the text of all of them."""
    first, *others = window
    segments = [str(chunk.segment) for chunk in window]
    yield {"segment": first.segment, "window": segments}, format_window(window)
    for chunk in others:
        yield {"segment": chunk.segment}, None


def build_summary_text(structured: Structured) -> str:
    """Write what a conversation was about: title, overview, action items and events."""
    lines = [structured.title, structured.overview]
    lines += [f"{i.owner_name or ''} {i.description}".strip() for i in structured.action_items]
    lines += [f"{event.title} {event.description}" for event in structured.events]
    return "\n".join(lines)


def _build_memory_rows(uid: UserId, memories: Sequence[Memory]) -> Iterator[RowWithText]:
    """Build a row of each current memory; search skips superseded ones."""
    for memory in memories:
        if not memory.is_current:
            continue
        metadata: dict[str, MetadataValue] = {
            "kind": "memory",
            "uid": uid,
            "memory_id": memory.id,
            "conversation_id": memory.conversation_id or "",
            "created_at": int(memory.created_at.timestamp()),
            "content_hash": memory_hash(memory),
            "index_version": INDEX_VERSION,
        }
        sparse_vector = sparse.encode_text(memory.content, _format_day(memory.created_at))
        row = _build_row(memory_row_id(uid, memory.id), sparse_vector, metadata)
        yield row, memory.content


def name_key(name: str) -> str:
    """Return the key by which a name is filtered, in whichever spelling."""
    return " ".join(fold(name).split())[:MAX_NAME_CHARS]


def _build_common_metadata(
    uid: UserId, conversation: Conversation, speakers: Iterable[str], people: Sequence[str]
) -> dict[str, MetadataValue]:
    topics = conversation.topics
    return {
        "uid": uid,
        "conversation_id": conversation.id,
        "created_at": int(conversation.started_at.timestamp()),
        "people": [
            *map(sparse.person_key, people[:MAX_NAMES]),
            *_build_name_keys([*sorted(speakers), *topics.people]),
        ],
        "topics": _build_name_keys(topics.topics),
        "entities": _build_name_keys(topics.entities),
        "dates": [date[:MAX_NAME_CHARS] for date in topics.dates[:MAX_NAMES]],
        "content_hash": content_hash(conversation),
        "index_version": INDEX_VERSION,
    }


def _build_name_keys(names: Sequence[str]) -> list[str]:
    """Return whole names first, then their words: "Zoë Krüger" is also asked for as "zoe"."""
    keys = [name_key(name) for name in names]
    words = [word for key in keys for word in key.split()]
    return list(dict.fromkeys(filter(None, [*keys, *words])))[:MAX_NAMES]


def _format_day(time: datetime) -> str:
    """Write the day as people ask for it; it gives every row its first terms."""
    return f"{time.day} {time:%B %Y}"


def _build_row(row_id: str, sparse_vector: SparseVector, metadata: dict[str, MetadataValue]) -> Row:
    return Row(id=row_id, sparse=sparse_vector, metadata=metadata)
