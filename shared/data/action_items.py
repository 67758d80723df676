"""Action items: tasks of a user, found by id, by wording or by shared words."""

from collections.abc import Sequence

from shared.data.derived import DerivedRecords
from shared.domain.action_item import ActionItem
from shared.domain.documents import Where
from shared.domain.ids import ActionItemId, UserId
from shared.domain.words import build_wording
from shared.retrieval.terms import tokenize

MAX_SEARCHED = 500
"""Items that a search reads, the newest ones."""


class ActionItems(DerivedRecords[ActionItem]):
    """A user's action items."""

    kind = ActionItem
    collection = "action_items"
    noun = "Action item"

    async def find_open(self, uid: UserId, description: str) -> ActionItem | None:
        """Return an open item with the same wording."""
        items = await self.list_open_by_wording(uid, [build_wording(description)])
        return items[0] if items else None

    async def list_open_by_wording(self, uid: UserId, wordings: Sequence[str]) -> list[ActionItem]:
        """Return the open items with one of these wordings."""
        is_open = Where("completed", "==", False)  # noqa: FBT003 - a stored value
        return await self.list_by_values(uid, "wording", wordings, is_open)

    async def search(self, uid: UserId, query: str, *, limit: int) -> list[ActionItem]:
        """Return items that share words with `query`, most shared words first, then the newest."""
        query_terms = set(tokenize(query))
        items = await self.list_newest(uid, limit=MAX_SEARCHED)
        shared_counts = {
            item.id: len(query_terms.intersection(tokenize(item.description))) for item in items
        }
        matches = [item for item in items if shared_counts[item.id]]
        return sorted(matches, key=lambda item: -shared_counts[item.id])[:limit]

    def is_same(self, stored: ActionItem, record: ActionItem) -> bool:
        return build_wording(stored.description) == build_wording(record.description)


def action_item_path(uid: UserId, item_id: ActionItemId) -> str:
    return f"users/{uid}/action_items/{item_id}"
