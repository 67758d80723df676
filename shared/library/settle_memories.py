"""Settling of memories: a second look after a write, at what others stored at the same moment.

Also called: race condition handling.
"""

from collections.abc import Sequence

from shared.data.memories.memories import memory_path
from shared.data.search.library_index import LibraryIndex
from shared.data.store.codec import load_all
from shared.domain.ids import UserId
from shared.domain.memories.memory import Memory
from shared.library.reconcile import Correction, settle
from shared.library.superseded import build_correction_writes
from shared.ports import Documents, Transaction


async def settle_memories(
    documents: Documents,
    index: LibraryIndex,
    uid: UserId,
    written: Sequence[Memory],
    conflicting: Sequence[Memory],
) -> None:
    """Let one of several facts stay current that exclude each other; the rows of the others go.

    `conflicting` is read after the write. Every writer looks then, so the last of them sees the facts
    of all, and a transaction decides once.
    """
    written_ids = {memory.id for memory in written}
    rivals = [memory for memory in conflicting if memory.id not in written_ids]
    if not rivals:
        return

    async def work(tx: Transaction) -> list[Correction]:
        found = await tx.get_many([memory_path(uid, each.id) for each in (*written, *rivals)])
        current = [m for m in load_all(Memory, [d for d in found if d]) if m.is_current]
        corrections = settle(
            [memory for memory in current if memory.id in written_ids],
            [memory for memory in current if memory.id not in written_ids],
        )
        tx.write(*build_correction_writes(uid, corrections))
        return corrections

    corrections = await documents.transaction(work)
    await index.remove_memories(uid, [correction.old.id for correction in corrections])
