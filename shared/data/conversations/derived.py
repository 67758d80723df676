"""Derived records: memories and action items that processing extracts from conversations.

Also called: soft delete, tombstones.
"""

from collections.abc import Sequence
from typing import Protocol, Self, TypeVar

from shared.data.conversations.conversations import conversation_path, tombstone_path
from shared.data.store.codec import load_all
from shared.data.store.records import Records, StoredRecord
from shared.domain.ids import ConversationId, UserId
from shared.domain.store.documents import Delete, Query, Set, Where, Write


class DerivedRecord(StoredRecord, Protocol):
    @property
    def conversation_id(self) -> ConversationId | None: ...

    def with_wording(self) -> Self: ...


D = TypeVar("D", bound=DerivedRecord)


class DerivedRecords(Records[D]):
    """Records that may name the conversation they come from."""

    async def list_for_conversation(self, uid: UserId, conversation_id: ConversationId) -> list[D]:
        query = Query(
            collection=f"users/{uid}/{self.collection}",
            where=(Where("conversation_id", "==", conversation_id),),
        )
        return load_all(self.kind, await self._documents.query(query))

    async def delete_with_tombstone(
        self, uid: UserId, record: D, *, also: Sequence[Write] = ()
    ) -> None:
        """Delete it for good: reprocessing its conversation does not bring it back.

        The writes `also` are made with it, all or none.
        """
        await self._documents.write(*self.build_deletion(uid, record), *also)

    def build_deletion(self, uid: UserId, record: D) -> list[Write]:
        """Return the writes that delete it, and keep its conversation from bringing it back."""
        deletion: list[Write] = [Delete(self.document_path(uid, record.id))]
        if record.conversation_id is not None:
            deletion.append(self.tombstone(uid, record.conversation_id, record.id))
        return deletion

    def prepare(self, record: D) -> D:
        return record.with_wording()

    def tombstone(self, uid: UserId, conversation_id: ConversationId, derived_id: str) -> Write:
        """Return the write that keeps a conversation from bringing this back."""
        path = tombstone_path(conversation_path(uid, conversation_id), derived_id)
        return Set(path, {"of": self.collection})
