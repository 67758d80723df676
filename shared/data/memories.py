"""What is known about the owner."""

from collections.abc import Sequence
from dataclasses import replace

from shared.data.codec import load_all
from shared.data.derived import Derived
from shared.domain.documents import Query, Where
from shared.domain.ids import MemoryId, UserId
from shared.domain.memory import Memory

_MOST = 100
CURRENT = Where("valid_to", "==", None)


class Memories(Derived[Memory]):
    """A user's memories; lists leave out what was superseded."""

    kind = Memory
    collection = "memories"
    noun = "Memory"

    async def superseded_by(self, uid: UserId, ids: Sequence[MemoryId]) -> list[Memory]:
        """Return what these took the place of; at most 30 ids."""
        where = (Where("superseded_by", "in", list(ids)),)
        query = Query(collection=f"users/{uid}/memories", where=where, limit=_MOST)
        return load_all(Memory, await self._documents.query(query)) if ids else []

    def is_same(self, stored: Memory, given: Memory) -> bool:
        return stored.content == given.content

    def _newest_first(self, uid: UserId, limit: int) -> Query:
        return replace(super()._newest_first(uid, limit), where=(CURRENT,))


def memory_path(uid: UserId, memory_id: MemoryId) -> str:
    return f"users/{uid}/memories/{memory_id}"
