"""Library changes of a chat: stored with the answer that made them, and undone once."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from shared.data.action_items import action_item_path
from shared.data.codec import dump, load, type_adapter
from shared.data.messages import message_path
from shared.domain.action_item import ActionItem
from shared.domain.chat import Message
from shared.domain.documents import Delete, Set, Update, Write
from shared.domain.errors import Conflict, NotFound
from shared.domain.ids import MessageId, UserId
from shared.domain.library_change import LibraryChange
from shared.ports import Documents, Transaction

METADATA_FIELD = "changes"
CHANGED_SINCE = "This task was changed or deleted since, so it stays as it is."


class LibraryChanges:
    """The changes that the answers of a user's chats made."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def undo(self, uid: UserId, message_id: MessageId, change_id: str) -> LibraryChange:
        """Restore the task as it was before a change; a change that was undone stays undone.

        Raises NotFound, and Conflict where the task was changed or deleted since.
        """
        path = message_path(uid, message_id)

        async def work(tx: Transaction) -> LibraryChange:
            document = await tx.get(path)
            if document is None:
                raise NotFound("Message not found")
            changes = load_changes(load(Message, document))
            change = _find_change(changes, change_id)
            if change.is_undone:
                return change
            item_path = action_item_path(uid, change.after.id)
            item_document = await tx.get(item_path)
            item = load(ActionItem, item_document) if item_document else None
            tx.write(*_build_restore_writes(item_path, item, change))
            undone = replace(change, is_undone=True)
            new_changes = [undone if other.id == change_id else other for other in changes]
            tx.write(Update(path, {f"metadata.{METADATA_FIELD}": dump_changes(new_changes)}))
            return undone

        return await self._documents.transaction(work)


def load_changes(message: Message) -> list[LibraryChange]:
    """Return what an answer changed, in the order of its calls."""
    stored_changes = message.metadata.get(METADATA_FIELD, ())
    return [type_adapter(LibraryChange).validate_python(change) for change in stored_changes]


def dump_changes(changes: Sequence[LibraryChange]) -> list[dict[str, Any]]:
    return [dump(change) for change in changes]


def _find_change(changes: Sequence[LibraryChange], change_id: str) -> LibraryChange:
    for change in changes:
        if change.id == change_id:
            return change
    raise NotFound("Change not found")


def _build_restore_writes(
    path: str, item: ActionItem | None, change: LibraryChange
) -> Sequence[Write]:
    """Return the write that restores a task. Raises Conflict where it is not as the change left it."""
    if item == change.before:
        return ()
    if item != change.after:
        raise Conflict(CHANGED_SINCE)
    return (Set(path, dump(change.before)) if change.before else Delete(path),)
