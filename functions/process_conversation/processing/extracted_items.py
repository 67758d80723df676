"""Extracted action items as the owner left them: deleted ones go, changed ones show the change; pure."""

from collections.abc import Iterator, Sequence

from shared.data.action_items import action_item_path
from shared.data.codec import load_all
from shared.data.conversations import conversation_path, tombstone_path
from shared.data.item_copies import copy_task
from shared.domain.action_item import ActionItem
from shared.domain.conversation import ExtractedItem
from shared.domain.documents import Document
from shared.domain.ids import ConversationId, UserId


def list_item_paths(
    uid: UserId, conversation_id: ConversationId, items: Sequence[ExtractedItem]
) -> list[str]:
    """Return what `follow_tasks` needs: of each item its task, then its tombstone."""
    path = conversation_path(uid, conversation_id)
    return [
        item_path
        for item in items
        if item.id is not None
        for item_path in (action_item_path(uid, item.id), tombstone_path(path, item.id))
    ]


def follow_tasks(
    items: Sequence[ExtractedItem], documents: Sequence[Document | None]
) -> tuple[ExtractedItem, ...]:
    """Return the items with what their owner changed; `documents` stand at `list_item_paths`."""
    return tuple(_follow(items, documents))


def _follow(
    items: Sequence[ExtractedItem], documents: Sequence[Document | None]
) -> Iterator[ExtractedItem]:
    tasks, tombstones = documents[::2], documents[1::2]
    for item, task_document, tombstone in zip(items, tasks, tombstones, strict=True):
        if tombstone is None:
            owned_tasks = [t for t in load_all(ActionItem, [task_document]) if t.is_user_owned]
            yield copy_task(item, owned_tasks[0]) if owned_tasks else item
