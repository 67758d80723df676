"""Copies of tasks in the structure of their conversation: they follow each change of a task."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from shared.data.store.codec import dump, type_adapter
from shared.domain.conversations.conversation import ExtractedItem
from shared.domain.conversations.derived_ids import identify_items
from shared.domain.store.documents import Document, Update, Write, lookup
from shared.domain.tasks.action_item import CONTENT_FIELDS, ActionItem

ITEMS_FIELD = "structured.action_items"


def load_items(document: Document) -> tuple[ExtractedItem, ...]:
    """Return the action items in a conversation's document, each with the id of its task."""
    stored_items: Any = lookup(document.fields, ITEMS_FIELD) or ()
    items = type_adapter(tuple[ExtractedItem, ...]).validate_python(stored_items)
    return identify_items(document.id, items)


def build_items_write(document: Document, items: Iterable[ExtractedItem]) -> Update:
    return Update(document.path, {ITEMS_FIELD: [dump(item) for item in items]})


def copy_task(item: ExtractedItem, task: ActionItem) -> ExtractedItem:
    """Return the item as the task is now."""
    return replace(item, **{name: getattr(task, name) for name in CONTENT_FIELDS})


def follow_changes(document: Document | None, tasks: Iterable[ActionItem]) -> list[Write]:
    """Return the writes that bring a conversation in line with those of the tasks that are its own."""
    items = load_items(document) if document else ()
    tasks_by_id = {task.id: task for task in tasks}
    changed = [
        copy_task(item, tasks_by_id[item.id]) if item.id in tasks_by_id else item for item in items
    ]
    return [build_items_write(document, changed)] if document and [*items] != changed else []


def follow_removal(document: Document | None, task_id: str) -> list[Write]:
    """Return the writes that take a deleted task out of its conversation."""
    items = load_items(document) if document else ()
    left = [item for item in items if item.id != task_id]
    return [build_items_write(document, left)] if document and len(left) < len(items) else []


def follow_return(document: Document | None, task: ActionItem) -> list[Write]:
    """Return the writes that put a task back into its conversation."""
    items = load_items(document) if document else ()
    if document is None or any(item.id == task.id for item in items):
        return []
    new = ExtractedItem(id=task.id, description="", owner=task.owner, owner_name=task.owner_name)
    return [build_items_write(document, [*items, copy_task(new, task)])]
