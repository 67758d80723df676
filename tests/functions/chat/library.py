"""Conversations for tests, stored and indexed as processing leaves them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from shared.adapters.firestore_limits import MAX_WRITES
from shared.data.conversations.conversations import conversation_path
from shared.data.memories.memories import memory_path
from shared.data.search.library_index import LibraryIndex
from shared.data.store.codec import dump
from shared.domain.conversations.conversation import Conversation, Segment, Structured, content_hash
from shared.domain.ids import ConversationId, MemoryId, SessionId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Set
from shared.ports import Embedder
from tests.fixtures.chat import ChatFixture

FIRST_DAY = datetime(2026, 1, 1, 9, tzinfo=UTC)


def build_conversation(number: int, *lines: str) -> Conversation:
    """Build the conversation of day `number` of 2026."""
    started_at = FIRST_DAY + timedelta(days=number)
    base = Conversation(
        id=ConversationId(f"c{number:03d}"),
        created_at=started_at,
        started_at=started_at,
        finished_at=started_at + timedelta(minutes=5),
        transcript_segments=tuple(
            Segment(text=line, speaker="Ann" if n % 2 else "Me", start=n, end=n + 1)
            for n, line in enumerate(lines)
        ),
        status="completed",
        structured=Structured(title=f"Talk {number}", overview=lines[0] if lines else ""),
    )
    return replace(base, processed_hash=content_hash(base))


async def store_conversations(
    world: ChatFixture,
    uid: UserId,
    *conversations: Conversation,
    embedder: Embedder | None = None,
) -> None:
    """Store and index, by words and, with an embedder, by meanings."""
    index = LibraryIndex(world.vectors, embedder)
    for item in conversations:
        await world.documents.write(Set(conversation_path(uid, item.id), dump(item)))
        await index.put(uid, item)


async def store_memories(
    world: ChatFixture,
    uid: UserId,
    facts: Sequence[str],
    *,
    session_id: SessionId | None = None,
    embedder: Embedder | None = None,
) -> None:
    """Store and index memories, said in a chat where one is named."""
    memories = [
        Memory(
            id=MemoryId(f"m{n:03d}"),
            content=fact,
            category="system",
            created_at=FIRST_DAY + timedelta(days=n),
            updated_at=FIRST_DAY + timedelta(days=n),
            session_id=session_id,
        )
        for n, fact in enumerate(facts)
    ]
    for start in range(0, len(memories), MAX_WRITES):
        written = memories[start : start + MAX_WRITES]
        await world.documents.write(*(Set(memory_path(uid, m.id), dump(m)) for m in written))
        await LibraryIndex(world.vectors, embedder).put_memories(uid, written)
