"""Action items of one conversation: changed by their place or their words, together with their tasks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from shared.data.conversations.conversations import conversation_path, tombstone_path
from shared.data.store.codec import dump, load
from shared.data.store.item_copies import build_items_write, load_items
from shared.data.tasks.action_items import action_item_path
from shared.domain.conversations.conversation import ExtractedItem
from shared.domain.errors import NotFound
from shared.domain.ids import ConversationId, UserId, is_id
from shared.domain.store.documents import Delete, Document, Set, Write
from shared.domain.tasks.action_item import ActionItem
from shared.ports import Documents, Transaction

Items = Sequence[ExtractedItem]
Changes = Mapping[int, ExtractedItem | None]
"""Changed items by their place; None removes one."""


class ConversationItems:
    """The action items of a user's conversations. Each change is one transaction with the tasks."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def complete(
        self,
        uid: UserId,
        conversation_id: ConversationId,
        completed: Mapping[int, bool],
        *,
        now: datetime,
    ) -> None:
        """Complete or reopen items by their places from 0 on. Raises NotFound."""

        def plan(items: Items) -> Changes:
            if any(place >= len(items) for place in completed):
                raise NotFound("Action item not found")
            return {place: replace(items[place], completed=to) for place, to in completed.items()}

        await self._change(uid, conversation_id, plan, now)

    async def rename(
        self,
        uid: UserId,
        conversation_id: ConversationId,
        place: int,
        *,
        old: str,
        new: str,
        now: datetime,
    ) -> None:
        """Give the item at a place, or else the one with the old words, new words.

        A repeat finds them changed already. Raises NotFound.
        """

        def plan(items: Items) -> Changes:
            if place < len(items) and items[place].description == new:
                return {}
            found = _find(items, old, first_places=[place])
            return {found: replace(items[found], description=new)}

        await self._change(uid, conversation_id, plan, now)

    async def remove(
        self,
        uid: UserId,
        conversation_id: ConversationId,
        description: str,
        *,
        completed: bool,
        now: datetime,
    ) -> None:
        """Delete the item with these words for good, one in this state first. Raises NotFound."""

        def plan(items: Items) -> Changes:
            first = [place for place, item in enumerate(items) if item.completed == completed]
            return {_find(items, description, first_places=first): None}

        await self._change(uid, conversation_id, plan, now)

    async def _change(
        self,
        uid: UserId,
        conversation_id: ConversationId,
        plan: Callable[[Items], Changes],
        now: datetime,
    ) -> None:
        if not is_id(conversation_id):
            raise NotFound("Conversation not found")

        async def work(tx: Transaction) -> None:
            document = await tx.get(conversation_path(uid, conversation_id))
            if document is None or document.fields.get("merged_into"):
                raise NotFound("Conversation not found")
            items = load_items(document)
            changes = plan(items)
            paths = [_build_task_path(uid, items[place]) for place in changes]
            tasks = await tx.get_many(paths)
            changed = [changes.get(place, item) for place, item in enumerate(items)]
            tx.write(build_items_write(document, [item for item in changed if item]))
            for (place, item), path, task in zip(changes.items(), paths, tasks, strict=True):
                tx.write(*_build_task_writes(document, items[place], item, path, task, now))

        await self._documents.transaction(work)


def _find(items: Items, description: str, *, first_places: Iterable[int]) -> int:
    """Return the place of the item with these words, one of `first_places` first. Raises NotFound."""
    places: list[int] = [*first_places, *range(len(items))]
    for place in places:
        if place < len(items) and items[place].description.strip() == description.strip():
            return place
    raise NotFound("Action item not found")


def _build_task_path(uid: UserId, item: ExtractedItem) -> str:
    assert item.id is not None, "load_items() sets it"
    return action_item_path(uid, item.id)


def _build_task_writes(
    conversation: Document,
    before: ExtractedItem,
    after: ExtractedItem | None,
    path: str,
    task: Document | None,
    now: datetime,
) -> list[Write]:
    """Return the writes of the task that belongs to a changed item; one without a task gets one."""
    assert before.id is not None, "load_items() sets it"
    if after is None:
        tombstone = Set(tombstone_path(conversation.path, before.id), {"of": "action_items"})
        return [Delete(path), tombstone]
    stored = load(ActionItem, task) if task else _build_task(conversation, before, now)
    completed_at = (stored.completed_at or now) if after.completed else None
    changed = replace(
        stored,
        description=after.description,
        completed=after.completed,
        completed_at=completed_at,
        updated_at=now,
        edited=True,
        read_kinds=() if after.description != stored.description else stored.read_kinds,
    )
    return [Set(path, dump(changed.with_wording()))]


def _build_task(conversation: Document, item: ExtractedItem, now: datetime) -> ActionItem:
    assert item.id is not None, "load_items() sets it"
    return ActionItem(
        id=item.id,
        description=item.description,
        created_at=now,
        updated_at=now,
        due_at=item.due_at,
        conversation_id=ConversationId(conversation.id),
        owner=item.owner,
        owner_name=item.owner_name,
    )
