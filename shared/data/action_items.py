"""Action items: tasks of a user, found by id, by wording or by shared words."""

from collections.abc import Sequence

from shared.data.codec import load_all
from shared.data.derived import DerivedRecords
from shared.domain.action_item import ActionItem
from shared.domain.documents import Document, Query, Where
from shared.domain.ids import ActionItemId, UserId
from shared.domain.words import build_wording
from shared.retrieval.terms import tokenize

MAX_SEARCHED = 500
"""Items that a search reads, the newest ones."""
_MAX_VALUES_PER_QUERY = 30
"""Limit of Firestore's `in`."""


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
        documents: list[Document] = []
        for n in range(0, len(wordings), _MAX_VALUES_PER_QUERY):
            batch = list(wordings[n : n + _MAX_VALUES_PER_QUERY])
            where = (Where("completed", "==", False), Where("wording", "in", batch))  # noqa: FBT003 - a stored value
            query = Query(collection=f"users/{uid}/action_items", where=where, limit=100)
            documents += await self._documents.query(query)
        return load_all(ActionItem, documents)

    async def search(self, uid: UserId, query: str, *, limit: int) -> list[ActionItem]:
        """Return items that share words with `query`, most shared words first, then the newest."""
        query_terms = set(tokenize(query))
        items = await self.list_newest(uid, limit=MAX_SEARCHED)
        scored_items = [
            (len(query_terms & set(tokenize(item.description))), item) for item in items
        ]
        return [
            item for n, item in sorted(scored_items, key=lambda scored_item: -scored_item[0]) if n
        ][:limit]

    def is_same(self, stored: ActionItem, record: ActionItem) -> bool:
        return build_wording(stored.description) == build_wording(record.description)


def action_item_path(uid: UserId, item_id: ActionItemId) -> str:
    return f"users/{uid}/action_items/{item_id}"
