"""Deletion tool: a recorded conversation, as the owner names it and confirms it."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import Field

from functions.chat.consent.call_words import Item
from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import ResultRenderer, Tool, render_fixed
from shared.arguments import Arguments
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.day_words import describe_time
from shared.domain.errors import NotFound, ToolRefused
from shared.domain.ids import ConversationId, UserId
from shared.library.delete_conversation import delete_conversation

NO_SUCH_CONVERSATION = "there is no such conversation. Call search_conversations for the ids."


class DeleteConversation(Arguments):
    """Delete a recorded conversation for good, when the owner asks for it; they are asked to confirm it.

    Memories and tasks that came of it stay.
    """

    conversation_id: Annotated[
        str, Field(min_length=1, max_length=200, description="From a result of a search.")
    ]


def build_deletion_tools(
    deps: ChatDeps, uid: UserId, zone: ZoneInfo, language: str | None = None
) -> list[Tool]:
    return [
        build_builtin_tool(
            "delete_conversation",
            "Deleting a conversation",
            DeleteConversation,
            partial(_delete, deps, uid),
            tool_class="sensitive",
            name_items=partial(_name, deps, uid, zone, language),
        )
    ]


async def _name(
    deps: ChatDeps,
    uid: UserId,
    zone: ZoneInfo,
    language: str | None,
    arguments: DeleteConversation,
) -> Mapping[str, Item]:
    conversation = await _get(deps, uid, arguments)
    time = describe_time(conversation.started_at, zone, language)
    item = Item(name=conversation.structured.title or conversation.id, details=(time,))
    return {conversation.id: item}


async def _delete(deps: ChatDeps, uid: UserId, arguments: DeleteConversation) -> ResultRenderer:
    """Delete what the owner was asked about. Raises ToolRefused where it is gone."""
    conversation = await _get(deps, uid, arguments)
    await delete_conversation(deps, uid, conversation.id)
    return render_fixed(f"Deleted: “{conversation.structured.title}”.")


async def _get(deps: ChatDeps, uid: UserId, arguments: DeleteConversation) -> Conversation:
    try:
        conversation_id = ConversationId(arguments.conversation_id)
        return await deps.stores.conversations.get_stored(uid, conversation_id)
    except NotFound as error:
        raise ToolRefused(NO_SUCH_CONVERSATION) from error
