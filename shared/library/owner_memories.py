"""Owner's changes of memories, whoever makes them for them: they always win, and nothing comes back."""

from collections.abc import Callable, Sequence
from typing import Any

from shared.data.memories.memories import Memories
from shared.data.search.library_index import LibraryIndex
from shared.domain.conversations.derived_ids import build_derived_id
from shared.domain.ids import UserId
from shared.domain.memories.memory import Memory
from shared.domain.provenance import TextKinds
from shared.domain.store.documents import Write
from shared.library.exclusive_facts import find_exclusive_key
from shared.library.manual_memories import describe_writer
from shared.library.memory_index import index_memories
from shared.library.superseded import build_restore_writes, restore_superseded
from shared.ports import Clock

DELETE_BATCH_SIZE = 100


async def change_memory(
    memories: Memories,
    index: LibraryIndex,
    clock: Clock,
    uid: UserId,
    memory_id: str,
    read_kinds: TextKinds = (),
    **changes: Any,
) -> tuple[Memory, Memory]:
    """Make the owner's changes of a memory and return it before and after. Raises NotFound.

    Other words are indexed, and are the owner's own unless `read_kinds` say otherwise.
    """
    text = changes.get("content")
    if text is not None:
        changes |= {"read_kinds": (), "aspect": find_exclusive_key(text), "edited": True}
    if text is not None and read_kinds:
        known_category = (await memories.get(uid, memory_id)).category
        changes |= describe_writer(changes.get("category", known_category), read_kinds)
    before, after = await memories.change_from(uid, memory_id, updated_at=clock.now(), **changes)
    if text is not None:
        await index_memories(memories, index, uid, [after])
    return before, after


async def delete_memory(
    memories: Memories,
    index: LibraryIndex,
    uid: UserId,
    memory_id: str,
    build_also: Callable[[Memory, Sequence[Memory]], Write] | None = None,
) -> Memory:
    """Delete a memory for good and return it; what it corrected is current again. Raises NotFound.

    `build_also` makes one more write of it and of what it corrected.

    Rows are deleted first: the next attempt completes an interrupted one.
    """
    memory = await memories.get(uid, memory_id)
    corrected = await memories.list_superseded_by(uid, [memory.id])
    restored_memories = restore_superseded(corrected, [memory])
    await index.remove_memories(uid, [memory.id])
    await index.put_memories(uid, restored_memories)
    extra_writes = [
        *_build_tombstones(memories, uid, memory),
        *build_restore_writes(uid, restored_memories),
        *([build_also(memory, corrected)] if build_also else []),
    ]
    await memories.delete_with_tombstone(uid, memory, also=extra_writes)
    return memory


async def forget_memories(
    memories: Memories, index: LibraryIndex, uid: UserId, forgotten: Sequence[Memory]
) -> None:
    """Delete memories for good with all that they corrected, which would be current again otherwise.

    The oldest go first: the next attempt completes an interrupted one.
    """
    generations = [list(forgotten)]
    ids = {memory.id for memory in forgotten}
    while generations[-1]:
        corrected = await memories.list_superseded_by(uid, [m.id for m in generations[-1]])
        generations.append([memory for memory in corrected if memory.id not in ids])
        ids |= {memory.id for memory in corrected}
    for generation in reversed(generations[:-1]):
        await _delete_batch(memories, index, uid, generation)


async def delete_all_memories(memories: Memories, index: LibraryIndex, uid: UserId) -> int:
    """Delete all memories for good, superseded ones included, and return how many there were."""
    count = 0
    while batch := await memories.list_all(uid, limit=DELETE_BATCH_SIZE):
        await _delete_batch(memories, index, uid, batch)
        count += len(batch)
    return count


async def _delete_batch(
    memories: Memories, index: LibraryIndex, uid: UserId, batch: Sequence[Memory]
) -> None:
    await index.remove_memories(uid, [memory.id for memory in batch])
    await memories.delete_many(
        [
            [*memories.build_deletion(uid, memory), *_build_tombstones(memories, uid, memory)]
            for memory in batch
        ]
    )


def _build_tombstones(memories: Memories, uid: UserId, memory: Memory) -> list[Write]:
    """Return the writes that keep its app or chat, and the conversations that repeat it, from restoring it."""
    has_own_id = memory.app_id is not None or memory.session_id is not None
    own_tombstones = [memories.id_tombstone(uid, memory.id)] if has_own_id else []
    return own_tombstones + [
        memories.tombstone(
            uid, conversation_id, build_derived_id(conversation_id, "memory", memory.content)
        )
        for conversation_id in memory.seen_in
    ]
