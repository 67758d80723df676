"""What the owner wants done."""

from shared.data.codec import load_all
from shared.data.derived import Derived
from shared.domain.documents import Query, Where
from shared.domain.ids import ActionItemId, UserId
from shared.domain.task import ActionItem
from shared.domain.words import normalise
from shared.retrieval.terms import terms

LOOKED_THROUGH = 500
"""So many tasks are read to find one by its words."""


class ActionItems(Derived[ActionItem]):
    """A user's action items."""

    kind = ActionItem
    collection = "action_items"
    noun = "Action item"

    async def open_like(self, uid: UserId, description: str) -> ActionItem | None:
        """Return an open item that says the same."""
        query = Query(
            collection=f"users/{uid}/action_items",
            where=(Where("completed", "==", False),),  # noqa: FBT003 - a stored value
            limit=LOOKED_THROUGH,
        )
        wanted = normalise(description)
        stored = load_all(ActionItem, await self._documents.query(query))
        return next((item for item in stored if normalise(item.description) == wanted), None)

    async def search(self, uid: UserId, query: str, *, limit: int) -> list[ActionItem]:
        """Return items that share words with `query`, those with most first, then the newest."""
        wanted = set(terms(query))
        newest = await self.newest(uid, limit=LOOKED_THROUGH)
        shared = [(len(wanted & set(terms(item.description))), item) for item in newest]
        return [item for n, item in sorted(shared, key=lambda one: -one[0]) if n][:limit]

    def is_same(self, stored: ActionItem, given: ActionItem) -> bool:
        return normalise(stored.description) == normalise(given.description)


def action_item_path(uid: UserId, item_id: ActionItemId) -> str:
    return f"users/{uid}/action_items/{item_id}"
