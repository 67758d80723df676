"""Summary ratings: what a user thinks of the summary of a conversation, stored below it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from shared.data.conversations.conversations import conversation_path
from shared.domain.errors import NotFound
from shared.domain.ids import ConversationId, UserId, is_id
from shared.domain.store.documents import Fields, Set, Write
from shared.ports import Documents, Transaction

SHOWN = -1
"""The user was asked and has not rated."""


class SummaryRatings:
    """One rating a conversation; it is deleted with the conversation."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def set(
        self,
        uid: UserId,
        conversation_id: ConversationId,
        value: int,
        reason: str | None,
        *,
        now: datetime,
    ) -> None:
        """Store a rating; that it was only shown takes none back. Raises NotFound."""
        path = _rating_path(uid, conversation_id)

        async def work(tx: Transaction) -> None:
            conversation, rating = await tx.get_many(
                [conversation_path(uid, conversation_id), path]
            )
            if conversation is None:
                raise NotFound("Conversation not found")
            if value != SHOWN or rating is None:
                tx.write(Set(path, {"value": value, "reason": reason, "rated_at": now}))

        await self._documents.transaction(work)

    async def has_rating(self, uid: UserId, conversation_id: ConversationId) -> bool:
        """Raises NotFound for what is no id."""
        rating = await self.find(uid, conversation_id)
        return rating is not None and rating["value"] != SHOWN

    async def find(self, uid: UserId, conversation_id: ConversationId) -> Fields | None:
        """Return value, reason and time of a rating. Raises NotFound for what is no id."""
        rating = await self._documents.get(_rating_path(uid, conversation_id))
        return rating.fields if rating else None

    def build_write(
        self, uid: UserId, conversation_id: ConversationId, fields: Mapping[str, Any]
    ) -> Write:
        """Return the write of a rating that comes with its conversation."""
        return Set(_rating_path(uid, conversation_id), {**fields})


def _rating_path(uid: UserId, conversation_id: ConversationId) -> str:
    if not is_id(conversation_id):
        raise NotFound("Conversation not found")
    return f"{conversation_path(uid, conversation_id)}/feedback/summary"
