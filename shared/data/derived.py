"""What processing derives from conversations: found by its conversation, and deleted for good."""

from typing import Protocol, TypeVar

from shared.data.codec import load_all
from shared.data.conversations import conversation_path, forgotten_path
from shared.data.records import Record, Records
from shared.domain.documents import Delete, Query, Set, Where
from shared.domain.ids import ConversationId, UserId


class Derivable(Record, Protocol):
    @property
    def conversation_id(self) -> ConversationId | None: ...


D = TypeVar("D", bound=Derivable)
_PER_CONVERSATION = 200


class Derived(Records[D]):
    """Records that may name the conversation they come from."""

    async def of_conversation(self, uid: UserId, conversation_id: ConversationId) -> list[D]:
        query = Query(
            collection=f"users/{uid}/{self.collection}",
            where=(Where("conversation_id", "==", conversation_id),),
            limit=_PER_CONVERSATION,
        )
        return load_all(self.kind, await self._documents.query(query))

    async def forget(self, uid: UserId, record: D) -> None:
        """Delete it for good: no reprocessing of its conversation brings it back."""
        delete = Delete(self.path(uid, record.id))
        if record.conversation_id is None:
            return await self._documents.write(delete)
        conversation = conversation_path(uid, record.conversation_id)
        mark = Set(forgotten_path(conversation, record.id), {"of": self.collection})
        return await self._documents.write(delete, mark)
