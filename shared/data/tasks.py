"""What the owner wants done."""

from collections.abc import Sequence

from shared.data.codec import load_all
from shared.data.derived import Derived
from shared.domain.documents import Document, Query, Where
from shared.domain.ids import ActionItemId, UserId
from shared.domain.task import ActionItem
from shared.domain.words import WORDING_CHARS, normalise
from shared.retrieval.terms import terms

LOOKED_THROUGH = 500
"""So many tasks are read to find one by its words."""
_AT_ONCE = 30
"""As many values as one query compares with."""


class ActionItems(Derived[ActionItem]):
    """A user's action items."""

    kind = ActionItem
    collection = "action_items"
    noun = "Action item"

    async def open_like(self, uid: UserId, description: str) -> ActionItem | None:
        """Return an open item that says the same."""
        found = await self.open_in_words(uid, [normalise(description)[:WORDING_CHARS]])
        return found[0] if found else None

    async def open_in_words(self, uid: UserId, wordings: Sequence[str]) -> list[ActionItem]:
        """Return the open items in one of these wordings."""
        found: list[Document] = []
        for n in range(0, len(wordings), _AT_ONCE):
            some = list(wordings[n : n + _AT_ONCE])
            where = (Where("completed", "==", False), Where("wording", "in", some))  # noqa: FBT003 - a stored value
            query = Query(collection=f"users/{uid}/action_items", where=where, limit=100)
            found += await self._documents.query(query)
        return load_all(ActionItem, found)

    async def search(self, uid: UserId, query: str, *, limit: int) -> list[ActionItem]:
        """Return items that share words with `query`, those with most first, then the newest."""
        wanted = set(terms(query))
        newest = await self.newest(uid, limit=LOOKED_THROUGH)
        shared = [(len(wanted & set(terms(item.description))), item) for item in newest]
        return [item for n, item in sorted(shared, key=lambda one: -one[0]) if n][:limit]

    def is_same(self, stored: ActionItem, given: ActionItem) -> bool:
        return stored.wording == given.wording


def action_item_path(uid: UserId, item_id: ActionItemId) -> str:
    return f"users/{uid}/action_items/{item_id}"
