"""Manual memories: facts that the owner wrote, over HTTP or in a chat."""

from datetime import datetime

from shared.data.memories.memories import Memories
from shared.domain.ids import MemoryId, UserId
from shared.domain.memories.memory import Memory, MemoryCategory
from shared.domain.words import build_wording
from shared.library.exclusive_facts import find_exclusive_key


def build_manual_memory(
    memory_id: str, content: str, now: datetime, category: MemoryCategory = "manual"
) -> Memory:
    return Memory(
        id=MemoryId(memory_id),
        content=content,
        category=category,
        created_at=now,
        updated_at=now,
        manually_added=True,
        aspect=find_exclusive_key(content),
    )


async def find_manual_memory(memories: Memories, uid: UserId, content: str) -> Memory | None:
    """Return the current memory that the owner wrote in exactly these words."""
    same_wording = await memories.list_by_values(uid, "wording", [build_wording(content)])
    return next(
        (
            memory
            for memory in same_wording
            if memory.is_current and memory.manually_added and memory.content == content
        ),
        None,
    )
