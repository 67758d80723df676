"""Memory index: rows that follow the memory documents, even if these change meanwhile."""

from collections.abc import Sequence

from shared.data.memories.memories import Memories
from shared.data.search.library_index import LibraryIndex
from shared.domain.ids import UserId
from shared.domain.memories.memory import Memory


async def index_memories(
    memories: Memories, index: LibraryIndex, uid: UserId, changed_memories: Sequence[Memory]
) -> None:
    """Index memories that were added or changed outside of a conversation's processing."""
    await index.put_memories(uid, changed_memories)
    await sync_rows(memories, index, uid, changed_memories)


async def sync_rows(
    memories: Memories,
    index: LibraryIndex,
    uid: UserId,
    pending: Sequence[Memory],
    *,
    known: Sequence[Memory] = (),
) -> None:
    """Correct the rows of memories that changed or were deleted while the rows were written.

    Every writer checks afterwards, so the last of several writers leaves what is stored. `known` were
    read after these rows were written; they are not read again.
    """
    known_by_id = {memory.id: memory for memory in known}
    while pending:
        unknown_ids = [memory.id for memory in pending if memory.id not in known_by_id]
        read_by_id = await memories.get_many(uid, unknown_ids) if unknown_ids else {}
        stored_memories, known_by_id = {**known_by_id, **read_by_id}, {}
        current = {name: memory for name, memory in stored_memories.items() if memory.is_current}
        if deleted_ids := [memory.id for memory in pending if memory.id not in current]:
            await index.remove_memories(uid, deleted_ids)
        pending = [
            current[memory.id]
            for memory in pending
            if memory.id in current and current[memory.id].content != memory.content
        ]
        await index.put_memories(uid, pending)
