"""Superseded memories: kept behind the memory that corrected them, restored when that is deleted."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from shared.data.memories.memories import memory_path
from shared.domain.ids import UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Update
from shared.library.reconcile import Correction, settle


def restore_superseded(
    superseded_memories: Iterable[Memory], removed_memories: Iterable[Memory]
) -> tuple[Memory, ...]:
    """Return corrected memories as they are once their corrections are removed.

    They are current again, unless the correction had been corrected itself: then the newest
    correction supersedes them too. Of several that exclude each other one is current.
    """
    removed_by_id = {memory.id: memory for memory in removed_memories}
    restored = [
        _inherit_validity(memory, removed_by_id[memory.superseded_by])
        for memory in superseded_memories
        if memory.superseded_by in removed_by_id and memory.id not in removed_by_id
    ]
    corrections = {correction.old.id: correction for correction in _settle_all(restored)}
    return tuple(_supersede(memory, corrections.get(memory.id)) for memory in restored)


def _settle_all(memories: Iterable[Memory]) -> Iterator[Correction]:
    """Yield what lets one of those stay current that exclude each other, the newest first."""
    kept: list[Memory] = []
    current = [memory for memory in memories if memory.is_current]
    for memory in sorted(current, key=lambda each: each.created_at, reverse=True):
        corrections = settle([memory], kept)
        lost_ids = {correction.old.id for correction in corrections}
        kept = [each for each in (*kept, memory) if each.id not in lost_ids]
        yield from corrections


def _supersede(memory: Memory, correction: Correction | None) -> Memory:
    if correction is None:
        return memory
    return replace(memory, valid_to=correction.corrected_at, superseded_by=correction.new_id)


def _inherit_validity(memory: Memory, correction: Memory) -> Memory:
    return replace(memory, valid_to=correction.valid_to, superseded_by=correction.superseded_by)


def build_correction_writes(uid: UserId, corrections: Iterable[Correction]) -> list[Update]:
    """Return the writes that store which memories are no longer true."""
    return [
        Update(
            memory_path(uid, correction.old.id),
            {"valid_to": correction.corrected_at, "superseded_by": correction.new_id},
        )
        for correction in corrections
    ]


def build_restore_writes(uid: UserId, memories: Iterable[Memory]) -> list[Update]:
    """Return the writes that store what restore_superseded() returned."""
    return [
        Update(
            memory_path(uid, memory.id),
            {"valid_to": memory.valid_to, "superseded_by": memory.superseded_by},
        )
        for memory in memories
    ]
