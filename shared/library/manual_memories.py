"""Manual memories: facts that the owner wrote, over HTTP or in a chat."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from shared.data.memories.memories import Memories
from shared.domain.ids import MemoryId, UserId
from shared.domain.memories.memory import Memory, MemoryCategory
from shared.domain.provenance import TextKinds
from shared.domain.words import build_wording
from shared.library.exclusive_facts import find_exclusive_key


def build_manual_memory(
    memory_id: str,
    content: str,
    now: datetime,
    category: MemoryCategory = "manual",
    read_kinds: TextKinds = (),
) -> Memory:
    """Build a fact in the owner's words; one that others may have worded is not called theirs."""
    return Memory(
        id=MemoryId(memory_id),
        content=content,
        created_at=now,
        updated_at=now,
        aspect=find_exclusive_key(content),
        **describe_writer(category, read_kinds),
    )


def describe_writer(category: MemoryCategory, read_kinds: TextKinds) -> Mapping[str, Any]:
    """Return the fields that say whose words a memory is: only the owner's own are `manual`."""
    is_own = not read_kinds
    return {
        "category": category if is_own or category != "manual" else "system",
        "manually_added": is_own,
        "read_kinds": read_kinds,
    }


async def find_manual_memory(
    memories: Memories, uid: UserId, content: str, *, is_own: bool = True
) -> Memory | None:
    """Return the current memory in exactly these words that the owner wrote; else whoever wrote it."""
    same_wording = await memories.list_by_values(uid, "wording", [build_wording(content)])
    return next(
        (
            memory
            for memory in same_wording
            if memory.is_current
            and memory.content == content
            and (memory.manually_added or not is_own)
        ),
        None,
    )
