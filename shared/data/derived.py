"""What processing derives from conversations: found by its conversation, and deleted for good."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from shared.data.codec import load_all
from shared.data.conversations import conversation_path, forgotten_path
from shared.data.records import Record, Records
from shared.domain.documents import Delete, Query, Set, Where, Write
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

    async def forget(self, uid: UserId, record: D, *, beside: Sequence[Write] = ()) -> None:
        """Delete it for good: no reprocessing of its conversation brings it back.

        The writes `beside` are made with it, all or none.
        """
        marks = []
        if record.conversation_id is not None:
            marks = [self.mark(uid, record.conversation_id, record.id)]
        await self._documents.write(Delete(self.path(uid, record.id)), *marks, *beside)

    def mark(self, uid: UserId, conversation_id: ConversationId, derived_id: str) -> Write:
        """Return what keeps a conversation from bringing this back."""
        path = forgotten_path(conversation_path(uid, conversation_id), derived_id)
        return Set(path, {"of": self.collection})
