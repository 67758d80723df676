"""Deletion of a conversation, as its owner asks for it: what goes along."""

from shared.domain.ids import ConversationId, UserId
from shared.edge.declare.schemas import Wire
from shared.library.delete_conversation import delete_conversation
from shared.library.deps import LibraryDeps


class DeletionQuery(Wire):
    """What goes with a conversation: memories, tasks, or both (`cascade`). What is not named stays."""

    cascade: bool = False
    delete_memories: bool = False
    delete_action_items: bool = False


async def delete(
    deps: LibraryDeps, uid: UserId, conversation_id: ConversationId, query: DeletionQuery
) -> None:
    """Delete a conversation with what the query names. Raises NotFound."""
    await delete_conversation(
        deps,
        uid,
        conversation_id,
        keeps_memories=not (query.cascade or query.delete_memories),
        keeps_tasks=not (query.cascade or query.delete_action_items),
    )
