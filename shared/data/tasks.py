"""What the owner wants done."""

from shared.data.codec import load_all
from shared.domain.documents import Order, Query, Where
from shared.domain.ids import ActionItemId, ConversationId, UserId
from shared.domain.task import ActionItem
from shared.ports import Documents

_PER_CONVERSATION = 200


class ActionItems:
    """A user's action items."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def newest(self, uid: UserId, *, limit: int, offset: int = 0) -> list[ActionItem]:
        """List newest first. What is skipped is read too: callers bound the offset."""
        query = Query(
            collection=f"users/{uid}/action_items",
            order_by=(Order("created_at", "desc"),),
            limit=offset + limit,
        )
        return load_all(ActionItem, (await self._documents.query(query))[offset:])

    async def of_conversation(
        self, uid: UserId, conversation_id: ConversationId
    ) -> list[ActionItem]:
        query = Query(
            collection=f"users/{uid}/action_items",
            where=(Where("conversation_id", "==", conversation_id),),
            limit=_PER_CONVERSATION,
        )
        return load_all(ActionItem, await self._documents.query(query))


def action_item_path(uid: UserId, item_id: ActionItemId) -> str:
    return f"users/{uid}/action_items/{item_id}"
