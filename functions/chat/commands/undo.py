"""Undoing of library changes of a chat: what an answer changed is as before, by a route or by a reply.

Also called: revert, rollback.
"""

from functions.chat import user_texts
from functions.chat.commands.command import Command
from functions.chat.commands.command_turn import CommandReply, CommandTurn
from functions.chat.consent.change_words import describe_changes
from functions.chat.deps import ChatDeps
from shared.data.chats.answer_changes import load_changes
from shared.domain.chats.library_change import LibraryChange
from shared.domain.conversations.daily_summary import DailySummarySettings
from shared.domain.errors import Conflict
from shared.domain.ids import MessageId, UserId
from shared.domain.memories.memory import Memory
from shared.library.memory_index import sync_rows
from shared.library.summary_schedule import schedule_recent_days


async def undo_change(
    deps: ChatDeps, uid: UserId, message_id: MessageId, change_id: str
) -> LibraryChange:
    """Restore what was there before a change, once. Raises NotFound, and Conflict where it was changed since."""
    change = await deps.stores.library_changes.undo(uid, message_id, change_id)
    if isinstance(change.after, DailySummarySettings):
        profile = await deps.stores.profiles.get(uid)
        await schedule_recent_days(deps.tasks, uid, profile, deps.clock.now())
    if isinstance(change.after, Memory):
        await sync_rows(deps.stores.memories, deps.index, uid, [change.after])
    return change


async def undo(turn: CommandTurn, command: Command) -> CommandReply:
    """Undo what the answer before changed, the last first; what was changed since stays as it is."""
    message_id = MessageId(command.argument)
    answer = await turn.deps.stores.messages.get(turn.uid, message_id)
    undone: list[LibraryChange] = []
    kept: list[LibraryChange] = []
    for change in reversed(load_changes(answer)):
        try:
            undone.append(await undo_change(turn.deps, turn.uid, message_id, change.id))
        except Conflict:
            kept.append(change)
    sentences = [(user_texts.UNDONE, undone), (user_texts.CHANGED_SINCE, kept)]
    return CommandReply(
        text=" ".join(
            turn.translate(sentence, changes=describe_changes(changes, turn.language))
            for sentence, changes in sentences
            if changes
        )
    )
