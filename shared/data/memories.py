"""What is known about the owner."""

from shared.data.derived import Derived
from shared.domain.ids import MemoryId, UserId
from shared.domain.memory import Memory


class Memories(Derived[Memory]):
    """A user's memories."""

    kind = Memory
    collection = "memories"
    noun = "Memory"

    def is_same(self, stored: Memory, given: Memory) -> bool:
        return stored.content == given.content


def memory_path(uid: UserId, memory_id: MemoryId) -> str:
    return f"users/{uid}/memories/{memory_id}"
