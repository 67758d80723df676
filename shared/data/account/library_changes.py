"""Library changes of a chat: stored with the answer that made them, and undone once.

Also called: revert, rollback.
"""

from collections.abc import Sequence
from dataclasses import replace

from shared.data.chats.answer_changes import METADATA_FIELD, dump_changes, load_changes
from shared.data.chats.messages import message_path
from shared.data.conversations.conversations import conversation_path
from shared.data.memories.memories import memory_path
from shared.data.store.codec import dump, load
from shared.data.store.item_copies import follow_changes
from shared.data.tasks.action_items import action_item_path
from shared.domain.account.profile import Profile
from shared.domain.chats.chat import Message
from shared.domain.chats.library_change import LibraryChange
from shared.domain.conversations.daily_summary import DailySummarySettings
from shared.domain.errors import Conflict, NotFound
from shared.domain.ids import MessageId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Delete, Document, Set, Update, Write
from shared.domain.tasks.action_item import ActionItem
from shared.ports import Documents, Transaction

CHANGED_SINCE = "This task was changed or deleted since, so it stays as it is."
MEMORY_CHANGED_SINCE = "This memory was changed or deleted since, so it stays as it is."
SETTINGS_CHANGED_SINCE = "These settings were changed since, so they stay as they are."


class LibraryChanges:
    """The changes that the answers of a user's chats made."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def undo(self, uid: UserId, message_id: MessageId, change_id: str) -> LibraryChange:
        """Restore what was there before a change; a change that was undone stays undone.

        Raises NotFound, and Conflict where it was changed or deleted since.
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
            tx.write(*await _restore(tx, uid, change))
            undone = replace(change, is_undone=True)
            new_changes = [undone if other.id == change_id else other for other in changes]
            tx.write(Update(path, {f"metadata.{METADATA_FIELD}": dump_changes(new_changes)}))
            return undone

        return await self._documents.transaction(work)


def _find_change(changes: Sequence[LibraryChange], change_id: str) -> LibraryChange:
    for change in changes:
        if change.id == change_id:
            return change
    raise NotFound("Change not found")


async def _restore(tx: Transaction, uid: UserId, change: LibraryChange) -> Sequence[Write]:
    """Return the writes that restore what was there before a change. Raises Conflict."""
    before, after = change.before, change.after
    if isinstance(after, ActionItem):
        assert before is None or isinstance(before, ActionItem)
        return await _restore_task(tx, uid, before, after)
    if isinstance(after, Memory):
        assert before is None or isinstance(before, Memory)
        return await _restore_memory(tx, uid, before, after)
    assert isinstance(before, DailySummarySettings)
    return await _restore_settings(tx, uid, before, after)


async def _restore_task(
    tx: Transaction, uid: UserId, before: ActionItem | None, after: ActionItem
) -> Sequence[Write]:
    """Restore a task, and what its conversation shows of it; Conflict where it was changed since."""
    path = action_item_path(uid, after.id)
    document = await tx.get(path)
    item = load(ActionItem, document) if document else None
    conversation = await _load_conversation(tx, uid, after)
    copies = follow_changes(conversation, [before or after])
    if item == before:
        return copies
    if item != after:
        raise Conflict(CHANGED_SINCE)
    return (Set(path, dump(before)) if before else Delete(path), *copies)


async def _load_conversation(tx: Transaction, uid: UserId, item: ActionItem) -> Document | None:
    """Return the conversation that shows the item; a task that a chat wrote has none."""
    if item.conversation_id is None:
        return None
    return await tx.get(conversation_path(uid, item.conversation_id))


async def _restore_memory(
    tx: Transaction, uid: UserId, before: Memory | None, after: Memory
) -> Sequence[Write]:
    """Restore a memory, or remove one that an answer wrote; Conflict where it was changed since."""
    path = memory_path(uid, after.id)
    document = await tx.get(path)
    memory = load(Memory, document) if document else None
    if memory == before:
        return ()
    if memory != after:
        raise Conflict(MEMORY_CHANGED_SINCE)
    return (Set(path, dump(before)) if before else Delete(path),)


async def _restore_settings(
    tx: Transaction, uid: UserId, before: DailySummarySettings, after: DailySummarySettings
) -> Sequence[Write]:
    """Restore when daily summaries are made; Conflict where that was changed since."""
    document = await tx.get(f"users/{uid}")
    current = load(Profile, document).daily_summary if document else before
    if current == before:
        return ()
    if current != after:
        raise Conflict(SETTINGS_CHANGED_SINCE)
    return (Update(f"users/{uid}", {"daily_summary": dump(before)}),)
