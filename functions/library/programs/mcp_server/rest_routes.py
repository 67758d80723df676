"""REST routes of Omi's public MCP server, which calls them by the key of an MCP client.

It reads JSON from every answer, so that none of them is empty.
"""

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from functions.library.memories import memories
from functions.library.pagination import build_page_response
from functions.library.programs.key_access import KeyOwner, authorize_mcp_key
from functions.library.programs.listings import list_conversations, list_memories
from functions.library.programs.program_schemas import (
    ConversationsQuery,
    MemoriesQuery,
    ProgramMemoryOut,
    ShortConversationOut,
    ShortMemoryOut,
    WholeConversationOut,
)
from functions.library.programs.route_calls import call_route
from shared.domain.errors import Invalid
from shared.domain.ids import ConversationId
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.problems import build_problem
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.edge.declare.schemas import Wire
from shared.library.deps import LibraryDeps
from shared.library.record_schemas import Content


class McpMemoryIn(Wire):
    """A fact; a category of older clients is accepted."""

    content: Content
    category: Annotated[str, Field(max_length=64)] | None = None


class ValueQuery(Wire):
    value: Content


@route(
    "GET",
    "/v1/mcp/memories",
    "List memories, newest first, by the key of an MCP client",
    access="anyone",
    authorize=authorize_mcp_key("read"),
    errors=(400, 401, 422, 429),
)
async def list_owner_memories(
    deps: LibraryDeps, call: Call[None, MemoriesQuery, KeyOwner]
) -> list[ShortMemoryOut] | Response:
    try:
        filters = call.query.to_filter()
    except Invalid as error:
        return build_problem(400, str(error))
    return build_page_response(await list_memories(deps, call.caller.uid, filters), ShortMemoryOut)


@route(
    "POST",
    "/v1/mcp/memories",
    "Write down a fact, by the key of an MCP client",
    access="anyone",
    authorize=authorize_mcp_key("write"),
    errors=(400, 401, 403, 413, 415, 422, 429),
)
async def add_memory(
    deps: LibraryDeps, call: CreatingCall[McpMemoryIn, None, KeyOwner]
) -> ProgramMemoryOut:
    stored = await call_route(
        deps,
        call.caller.uid,
        memories.add_memory,
        body=dict(call.body),
        operation=call.operation,
    )
    return ProgramMemoryOut.model_validate(stored)


@route(
    "PATCH",
    "/v1/mcp/memories/{memory_id}",
    "Change what a memory says, by the key of an MCP client",
    access="anyone",
    authorize=authorize_mcp_key("write"),
    errors=(401, 403, 404, 422, 429),
)
async def edit_memory(deps: LibraryDeps, call: Call[None, ValueQuery, KeyOwner]) -> OkOut:
    body = dict(call.query)
    await call_route(deps, call.caller.uid, memories.edit_memory, path=call.path, body=body)
    return OkOut()


@route(
    "DELETE",
    "/v1/mcp/memories/{memory_id}",
    "Delete a memory, by the key of an MCP client",
    access="anyone",
    authorize=authorize_mcp_key("write"),
    errors=(401, 403, 404, 429),
)
async def delete_memory(deps: LibraryDeps, call: Call[None, None, KeyOwner]) -> OkOut:
    await call_route(deps, call.caller.uid, memories.delete_memory, path=call.path)
    return OkOut()


@route(
    "GET",
    "/v1/mcp/conversations",
    "List completed conversations, newest first, by the key of an MCP client",
    access="anyone",
    authorize=authorize_mcp_key("read"),
    errors=(400, 401, 422, 429),
)
async def list_owner_conversations(
    deps: LibraryDeps, call: Call[None, ConversationsQuery, KeyOwner]
) -> list[ShortConversationOut] | Response:
    try:
        filters = call.query.to_filter()
    except Invalid as error:
        return build_problem(400, str(error))
    return build_page_response(
        await list_conversations(deps, call.caller.uid, filters), ShortConversationOut
    )


@route(
    "GET",
    "/v1/mcp/conversations/{conversation_id}",
    "Read a conversation with its transcript, by the key of an MCP client",
    access="anyone",
    authorize=authorize_mcp_key("read"),
    errors=(401, 404, 429),
)
async def get_conversation(
    deps: LibraryDeps, call: Call[None, None, KeyOwner]
) -> WholeConversationOut:
    conversation_id = ConversationId(call.path["conversation_id"])
    conversation = await deps.stores.conversations.get(call.caller.uid, conversation_id)
    return WholeConversationOut.of(conversation)


ROUTES = (
    list_owner_memories,
    add_memory,
    edit_memory,
    delete_memory,
    list_owner_conversations,
    get_conversation,
)
