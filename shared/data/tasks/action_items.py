"""Action items: tasks of a user, found by id, by wording or by shared words."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, get_args

from shared.data.conversations.conversations import conversation_path
from shared.data.conversations.derived import DerivedRecords
from shared.data.store.codec import dump, load_all
from shared.data.store.item_copies import follow_changes, follow_removal
from shared.data.store.offsets import find_start
from shared.data.store.paging import Page, format_cursor
from shared.domain.ids import ActionItemId, ConversationId, UserId, is_id
from shared.domain.provenance import TextKinds
from shared.domain.store.documents import Delete, Operator, Order, Query, Set, Where, Write
from shared.domain.tasks.action_item import CONTENT_FIELDS, ActionItem, TaskOwner
from shared.domain.value import value
from shared.domain.words import build_wording
from shared.ports import Transaction
from shared.retrieval.terms import tokenize

MAX_SEARCHED = 500
"""Items that a search reads, the newest ones."""
MAX_ALIKE = 10
"""Open tasks in the same words that are looked at: they differ by whose they are."""
_BATCH_SIZE = 100
"""Tasks changed in one transaction, which may change as many conversations."""


@value
class ActionItemFilter:
    """The tasks to list; both times are included, and mean when a task was created."""

    completed: bool | None = None
    conversation_id: ConversationId | None = None
    start: datetime | None = None
    end: datetime | None = None

    def to_where(self) -> tuple[Where, ...]:
        conditions: tuple[tuple[str, Operator, Any], ...] = (
            ("completed", "==", self.completed),
            ("conversation_id", "==", self.conversation_id),
            ("created_at", ">=", self.start),
            ("created_at", "<=", self.end),
        )
        return tuple(Where(*condition) for condition in conditions if condition[2] is not None)


@value
class FoundItems:
    """Items that were found; `has_more` where others match, or older ones were not looked through."""

    items: list[ActionItem]
    has_more: bool


class ActionItems(DerivedRecords[ActionItem]):
    """A user's action items."""

    kind = ActionItem
    collection = "action_items"
    noun = "Action item"

    async def list_owned_page(
        self,
        uid: UserId,
        owners: Container[TaskOwner],
        *,
        limit: int,
        after: str | None = None,
        offset: int = 0,
        where: Sequence[Where] = (),
    ) -> Page[ActionItem]:
        """List tasks of these owners, newest first. Raises Invalid for a cursor we did not give.

        Tasks of others are read and left out: those stored before there were owners name none, so that
        no query finds them.
        """
        query = self._build_filtered_query(uid, limit, where)
        start = await find_start(self._documents, query, offset, partial(self._count_owned, owners))
        where, offset = (*where, *start.where), start.skipped
        found: list[ActionItem] = []
        while len(found) <= offset + limit:
            page = await self.list_page(uid, limit=limit + 1, after=after, where=where)
            found += [item for item in page.items if item.owner in owners]
            after = page.next
            if after is None:
                break
        shown = found[offset : offset + limit]
        has_more = len(found) > offset + limit
        position = (shown[-1].created_at, shown[-1].id) if has_more else None
        return Page(items=shown, next=format_cursor(position) if position else None)

    async def _count_owned(self, owners: Container[TaskOwner], query: Query) -> int:
        """Count tasks of these owners. The user's own are all that are not marked as another's."""
        others = [owner for owner in get_args(TaskOwner) if owner != "me"]
        counted = [owner for owner in others if (owner in owners) != ("me" in owners)]
        total = await self._documents.count(query) if "me" in owners else 0
        counts = [
            await self._documents.count(
                replace(query, where=(*query.where, Where("owner", "==", owner)))
            )
            for owner in counted
        ]
        return abs(total - sum(counts))

    async def list_own(self, uid: UserId, *, limit: int) -> list[ActionItem]:
        """List the user's own tasks, newest first."""
        return [*(await self.list_owned_page(uid, ("me",), limit=limit)).items]

    async def find_open(self, uid: UserId, description: str) -> ActionItem | None:
        """Return an open task of the user's own with the same wording."""
        items = await self.list_open_alike(uid, build_wording(description))
        return next((item for item in items if item.owner == "me"), None)

    async def list_open_alike(
        self, uid: UserId, wording: str, due_at: datetime | None = None
    ) -> list[ActionItem]:
        """Return open tasks of anybody in the same words, at most MAX_ALIKE: those due then or at no time, where a time is given."""
        dues = (due_at, None) if due_at else ()
        query = Query(
            collection=f"users/{uid}/{self.collection}",
            where=(Where("completed", "==", False), Where("wording", "==", wording)),  # noqa: FBT003 - a stored value
            any_of=tuple(Where("due_at", "==", due) for due in dues),
            limit=MAX_ALIKE,
        )
        return load_all(ActionItem, await self._documents.query(query))

    async def get_many(self, uid: UserId, ids: Sequence[ActionItemId]) -> list[ActionItem]:
        """Return those that exist, in this order."""
        paths = [self.document_path(uid, name) for name in ids if is_id(name)]
        return load_all(ActionItem, await self._documents.get_many(paths))

    async def list_open(self, uid: UserId, *, limit: int) -> list[ActionItem]:
        """List the user's own open tasks, newest first."""
        where = ActionItemFilter(completed=False).to_where()
        return [*(await self.list_owned_page(uid, ("me",), limit=limit, where=where)).items]

    async def list_completed_exports(self, uid: UserId, *, limit: int) -> list[ActionItem]:
        """List completed tasks that stand in a task app of the phone too, those changed last first."""
        query = Query(
            collection=f"users/{uid}/{self.collection}",
            where=(Where("completed", "==", True), Where("exported", "==", True)),  # noqa: FBT003 - stored values
            order_by=(Order("updated_at", "desc"),),
            limit=limit,
        )
        return load_all(ActionItem, await self._documents.query(query))

    async def update(
        self,
        uid: UserId,
        changes_by_id: Mapping[str, Mapping[str, Any]],
        now: datetime,
        read_kinds: TextKinds = (),
    ) -> list[ActionItem]:
        """Make the owner's changes; return the tasks that exist, as they are now.

        A hundred at a time are changed together, all or none; a repeat does the rest. New words may come from
        `read_kinds`.
        """
        ids = [name for name in changes_by_id if is_id(name)]
        return [
            item
            for n in range(0, len(ids), _BATCH_SIZE)
            for item in await self._update_together(
                uid,
                {name: changes_by_id[name] for name in ids[n : n + _BATCH_SIZE]},
                now,
                read_kinds,
            )
        ]

    async def _update_together(
        self,
        uid: UserId,
        changes_by_id: Mapping[str, Mapping[str, Any]],
        now: datetime,
        read_kinds: TextKinds,
    ) -> list[ActionItem]:
        paths = [self.document_path(uid, name) for name in changes_by_id]

        async def work(tx: Transaction) -> list[ActionItem]:
            items = load_all(ActionItem, await tx.get_many(paths))
            changed_items = [
                self.prepare(item.change(changes_by_id[item.id], now, read_kinds)) for item in items
            ]
            changes = [
                (item, changed)
                for item, changed in zip(items, changed_items, strict=True)
                if item != changed
            ]
            tx.write(*await _follow_all(tx, uid, changes))
            tx.write(*(Set(self.document_path(uid, new.id), dump(new)) for _, new in changes))
            return changed_items

        return await self._documents.transaction(work)

    async def count_owned(
        self, uid: UserId, owners: Container[TaskOwner], *, where: Sequence[Where] = ()
    ) -> int:
        """Count what list_owned_page() lists in all."""
        query = replace(self._build_filtered_query(uid, 0, where), limit=None)
        return await self._count_owned(owners, query)

    async def search(
        self, uid: UserId, query: str, *, limit: int, owners: Container[TaskOwner] = ("me",)
    ) -> FoundItems:
        """Find items that share words with `query`, most shared words first, then the newest."""
        query_terms = set(tokenize(query))
        newest = await self.list_newest(uid, limit=MAX_SEARCHED + 1)
        items = newest[:MAX_SEARCHED]
        shared_counts = {
            item.id: len(query_terms.intersection(tokenize(item.description))) for item in items
        }
        matches = [item for item in items if shared_counts[item.id] and item.owner in owners]
        best = sorted(matches, key=lambda item: -shared_counts[item.id])[:limit]
        return FoundItems(items=best, has_more=len(matches) > len(best) or len(newest) > len(items))

    async def build_follow_ups(
        self, tx: Transaction, uid: UserId, before: ActionItem, after: ActionItem
    ) -> Sequence[Write]:
        """Write the item's words and state into its conversation too."""
        return await _follow_all(tx, uid, [(before, after)])

    async def delete_with_tombstone(
        self, uid: UserId, record: ActionItem, *, also: Sequence[Write] = ()
    ) -> None:
        """Delete it for good, from its conversation too."""
        path = self.document_path(uid, record.id)
        conversation_id = record.conversation_id

        async def work(tx: Transaction) -> None:
            if conversation_id is not None:
                conversation = await tx.get(conversation_path(uid, conversation_id))
                tx.write(*follow_removal(conversation, record.id))
                tx.write(self.tombstone(uid, conversation_id, record.id))
            tx.write(Delete(path), *also)

        await self._documents.transaction(work)

    def is_same(self, stored: ActionItem, record: ActionItem) -> bool:
        return build_wording(stored.description) == build_wording(record.description)


async def _follow_all(
    tx: Transaction, uid: UserId, changes: Sequence[tuple[ActionItem, ActionItem]]
) -> list[Write]:
    """Write the words and states of changed tasks into their conversations."""
    changed = [new for old, new in changes if _list_copied(old) != _list_copied(new)]
    conversation_ids = sorted({task.conversation_id for task in changed if task.conversation_id})
    paths = [conversation_path(uid, name) for name in conversation_ids]
    documents = await tx.get_many(paths) if paths else []
    return [write for document in documents for write in follow_changes(document, changed)]


def _list_copied(item: ActionItem) -> list[object]:
    return [getattr(item, name) for name in CONTENT_FIELDS]


def action_item_path(uid: UserId, item_id: ActionItemId) -> str:
    return f"users/{uid}/action_items/{item_id}"
