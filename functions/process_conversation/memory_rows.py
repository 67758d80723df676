"""Rows of memories follow their documents, which the owner may change while rows are written."""

from collections.abc import Sequence

from shared.data.library_index import LibraryIndex
from shared.data.memories import Memories
from shared.domain.ids import UserId
from shared.domain.memory import Memory


async def put_rows(
    memories: Memories, index: LibraryIndex, uid: UserId, changed: Sequence[Memory]
) -> None:
    """Index memories that were added or changed by themselves."""
    await index.put_memories(uid, [memory for memory in changed if memory.is_current])
    await agree(memories, index, uid, changed)


async def agree(
    memories: Memories, index: LibraryIndex, uid: UserId, written: Sequence[Memory]
) -> None:
    """Mend the rows of what was changed or deleted while they were written.

    Who writes a row looks afterwards, so that the last of several agrees with what is stored.
    """
    while written:
        stored = await memories.stored(uid, [memory.id for memory in written])
        current = {name: memory for name, memory in stored.items() if memory.is_current}
        if gone := [memory.id for memory in written if memory.id not in current]:
            await index.remove_memories(uid, gone)
        written = [
            current[memory.id]
            for memory in written
            if memory.id in current and current[memory.id].content != memory.content
        ]
        await index.put_memories(uid, written)
