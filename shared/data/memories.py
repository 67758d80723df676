"""What is known about the owner."""

from collections.abc import Sequence
from dataclasses import replace

from shared.data.codec import load_all
from shared.data.derived import Derived
from shared.domain.documents import Document, Query, Set, Where, Write
from shared.domain.ids import MemoryId, UserId
from shared.domain.memory import Memory

_MOST = 100
_AT_ONCE = 30
"""As many values as one query compares with."""
CURRENT = Where("valid_to", "==", None)


class Memories(Derived[Memory]):
    """A user's memories; lists leave out what was superseded."""

    kind = Memory
    collection = "memories"
    noun = "Memory"

    async def any(self, uid: UserId, *, limit: int) -> list[Memory]:
        """List newest first, also what was superseded."""
        found = await self._documents.query(super()._newest_first(uid, limit))
        return load_all(Memory, found)

    async def stored(self, uid: UserId, ids: Sequence[MemoryId]) -> dict[MemoryId, Memory]:
        """Return those that exist, by their ids."""
        found = await self._documents.get_many([memory_path(uid, name) for name in ids])
        return {memory.id: memory for memory in load_all(Memory, [d for d in found if d])}

    async def superseded_by(self, uid: UserId, ids: Sequence[MemoryId]) -> list[Memory]:
        """Return what these took the place of, at most 100 memories for 30 ids."""
        return await self._with(uid, "superseded_by", ids)

    async def is_forgotten(self, uid: UserId, memory_id: MemoryId) -> bool:
        """Tell whether the owner deleted what an app wrote under this id."""
        return await self._documents.get(_forgotten_path(uid, memory_id)) is not None

    def app_mark(self, uid: UserId, memory_id: MemoryId) -> Write:
        """Return what keeps an app from bringing a memory back."""
        return Set(_forgotten_path(uid, memory_id), {"of": self.collection})

    async def alike(self, uid: UserId, facts: Sequence[Memory]) -> list[Memory]:
        """Return current memories in the words of these facts, or that cannot hold beside one."""
        wordings = sorted({one.wording for one in facts})
        aspects = sorted({one.aspect for one in facts if one.aspect})
        found = await self._with(uid, "wording", wordings) + await self._with(
            uid, "aspect", aspects
        )
        return [memory for memory in found if memory.is_current]

    async def _with(self, uid: UserId, field: str, values: Sequence[str]) -> list[Memory]:
        """Return those with one of these values in a field, at most 100 for 30 values."""
        found: list[Document] = []
        for n in range(0, len(values), _AT_ONCE):
            where = (Where(field, "in", list(values[n : n + _AT_ONCE])),)
            query = Query(collection=f"users/{uid}/memories", where=where, limit=_MOST)
            found += await self._documents.query(query)
        return load_all(Memory, found)

    def is_same(self, stored: Memory, given: Memory) -> bool:
        return stored.content == given.content

    def _newest_first(self, uid: UserId, limit: int) -> Query:
        return replace(super()._newest_first(uid, limit), where=(CURRENT,))


def _forgotten_path(uid: UserId, memory_id: MemoryId) -> str:
    return f"users/{uid}/forgotten/{memory_id}"


def memory_path(uid: UserId, memory_id: MemoryId) -> str:
    return f"users/{uid}/memories/{memory_id}"
