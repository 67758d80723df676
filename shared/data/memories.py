"""What is known about the owner."""

from shared.data.codec import load_all
from shared.domain.documents import Order, Query, Where
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memory import Memory
from shared.ports import Documents

_PER_CONVERSATION = 100


class Memories:
    """A user's memories."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def newest(self, uid: UserId, *, limit: int, offset: int = 0) -> list[Memory]:
        """List newest first. What is skipped is read too: callers bound the offset."""
        query = Query(
            collection=f"users/{uid}/memories",
            order_by=(Order("created_at", "desc"),),
            limit=offset + limit,
        )
        return load_all(Memory, (await self._documents.query(query))[offset:])

    async def of_conversation(self, uid: UserId, conversation_id: ConversationId) -> list[Memory]:
        query = Query(
            collection=f"users/{uid}/memories",
            where=(Where("conversation_id", "==", conversation_id),),
            limit=_PER_CONVERSATION,
        )
        return load_all(Memory, await self._documents.query(query))


def memory_path(uid: UserId, memory_id: MemoryId) -> str:
    return f"users/{uid}/memories/{memory_id}"
