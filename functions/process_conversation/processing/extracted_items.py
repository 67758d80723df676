"""Extracted action items as the owner left them: deleted ones go, changed ones show the change; pure."""

from collections.abc import Sequence

from shared.data.conversations.conversations import conversation_path, tombstone_path
from shared.data.store.codec import load_all
from shared.data.store.item_copies import copy_task
from shared.data.tasks.action_items import action_item_path
from shared.domain.conversations.conversation import ExtractedItem
from shared.domain.ids import ConversationId, UserId
from shared.domain.store.documents import Document
from shared.domain.tasks.action_item import ActionItem


def list_item_paths(uid: UserId, items: Sequence[ExtractedItem]) -> list[str]:
    """Return the paths of the items' tasks, of those that have one."""
    return [action_item_path(uid, item.id) for item in items if item.id is not None]


def list_tombstone_paths(
    uid: UserId,
    conversation_id: ConversationId,
    items: Sequence[ExtractedItem],
    tasks: Sequence[Document | None],
) -> list[str]:
    """Return the paths that tell of which missing tasks that their owner deleted them."""
    path = conversation_path(uid, conversation_id)
    paths = list_item_paths(uid, items)
    return [
        tombstone_path(path, task_path.rpartition("/")[2])
        for task_path, task in zip(paths, tasks, strict=True)
        if task is None
    ]


def follow_tasks(
    items: Sequence[ExtractedItem],
    tasks: Sequence[Document | None],
    tombstones: Sequence[Document | None],
) -> tuple[ExtractedItem, ...]:
    """Return the items with what their owner changed, without those that they deleted."""
    owned_tasks = {task.id: task for task in load_all(ActionItem, tasks) if task.is_user_owned}
    deleted_ids = {tombstone.id for tombstone in tombstones if tombstone}
    return tuple(
        copy_task(item, owned_tasks[item.id]) if item.id in owned_tasks else item
        for item in items
        if item.id not in deleted_ids
    )
