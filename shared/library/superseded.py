"""Superseded memories: restored when the memory that corrected them is deleted."""

from collections.abc import Iterable
from dataclasses import replace

from shared.data.memories import memory_path
from shared.domain.documents import Update
from shared.domain.ids import UserId
from shared.domain.memory import Memory


def restore_superseded(
    superseded_memories: Iterable[Memory], removed_memories: Iterable[Memory]
) -> tuple[Memory, ...]:
    """Return corrected memories as they are once their corrections are removed.

    They are current again, unless the correction had been corrected itself: then the newest
    correction supersedes them too.
    """
    removed_by_id = {memory.id: memory for memory in removed_memories}
    return tuple(
        _inherit_validity(memory, removed_by_id[memory.superseded_by])
        for memory in superseded_memories
        if memory.superseded_by in removed_by_id and memory.id not in removed_by_id
    )


def _inherit_validity(memory: Memory, correction: Memory) -> Memory:
    return replace(memory, valid_to=correction.valid_to, superseded_by=correction.superseded_by)


def build_restore_writes(uid: UserId, memories: Iterable[Memory]) -> list[Update]:
    """Return the writes that store what restore_superseded() returned."""
    return [
        Update(
            memory_path(uid, memory.id),
            {"valid_to": memory.valid_to, "superseded_by": memory.superseded_by},
        )
        for memory in memories
    ]
