"""Conversation tools: what was said to the owner and by them."""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from functions.library.conversations.list_schemas import PassageOut, build_passages
from functions.library.date_filters import FirstLocalMoment, LastLocalMoment
from functions.library.programs.listings import list_conversations, read_range
from functions.library.programs.mcp_server.library_tool import Result, build_list, build_page, tool
from functions.library.programs.program_schemas import (
    ConversationsFilter,
    ShortConversationOut,
    WholeConversationOut,
)
from functions.library.schemas import QueryText
from shared.data.search.search import Filters
from shared.domain.ids import ConversationId, UserId
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import ClientId
from shared.library.deps import LibraryDeps

Name = Annotated[str, Field(min_length=1, max_length=100)]


class ConversationSearch(Wire):
    """Conversations of these days that match the query, with any of the people and topics."""

    query: QueryText
    start_date: FirstLocalMoment = None
    end_date: LastLocalMoment = None
    people: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    topics: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    limit: Annotated[int, Field(ge=1, le=50)] = 10


class ConversationName(Wire):
    conversation_id: ClientId


class MatchOut(ShortConversationOut):
    """A conversation with the passages that match best."""

    passages: list[PassageOut]


@tool("read", "Find the owner's conversations by what was said in them, best first.")
async def search_conversations(
    deps: LibraryDeps, uid: UserId, search: ConversationSearch
) -> Result:
    start, end = await read_range(deps, uid, search.start_date, search.end_date)
    filters = Filters(start=start, end=end, people=search.people, topics=search.topics)
    result = await deps.search.search_with_fallback(
        uid, search.query, filters=filters, limit=search.limit
    )
    shown = [_build_match(hit) for hit in result.conversations]
    return build_list("conversations", shown, has_more=result.has_more)


@tool("read", "List the owner's conversations, newest first, without their transcripts.")
async def get_conversations(deps: LibraryDeps, uid: UserId, filters: ConversationsFilter) -> Result:
    page, end = await list_conversations(deps, uid, filters), filters.offset + filters.limit
    return build_page("conversations", page, ShortConversationOut, end=end)


@tool("read", "Read one of the owner's conversations with its transcript.")
async def get_conversation_by_id(deps: LibraryDeps, uid: UserId, name: ConversationName) -> Result:
    conversation = await deps.stores.conversations.get(uid, ConversationId(name.conversation_id))
    return {"conversation": WholeConversationOut.of(conversation)}


def _build_match(hit: Any) -> MatchOut:
    summary = ShortConversationOut.model_validate(hit.conversation)
    return MatchOut(**dict(summary), passages=build_passages(hit))


get_conversation = replace(get_conversation_by_id, name="get_conversation")
"""The name under which earlier clients of ours know it."""

TOOLS = (
    search_conversations,
    get_conversations,
    get_conversation_by_id,
    get_conversation,
)
