"""Memory tools: facts about the owner, and the people they know."""

from typing import Annotated

from pydantic import Field

from functions.library.memories import memories
from functions.library.programs.listings import list_memories
from functions.library.programs.mcp_server.library_tool import Result, build_list, build_page, tool
from functions.library.programs.program_schemas import MemoriesFilter, ShortMemoryOut
from functions.library.programs.route_calls import call_route
from functions.library.schemas import LibrarySearchIn
from shared.domain.ids import UserId
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import ClientId
from shared.library.deps import LibraryDeps
from shared.library.record_schemas import Content

MAX_LISTED_PEOPLE = 1_000


class NewMemory(Wire):
    content: Content
    category: Annotated[str, Field(max_length=64)] | None = None


class MemoryName(Wire):
    memory_id: ClientId


class MemoryText(MemoryName):
    content: Content


class NoArguments(Wire):
    pass


@tool("read", "List facts about the owner, newest first.")
async def get_memories(deps: LibraryDeps, uid: UserId, filters: MemoriesFilter) -> Result:
    page = await list_memories(deps, uid, filters)
    return build_page("memories", page, ShortMemoryOut, end=filters.offset + filters.limit)


@tool("read", "Find facts about the owner, best first.")
async def search_memories(deps: LibraryDeps, uid: UserId, search: LibrarySearchIn) -> Result:
    found = await deps.search.find_memories(uid, search.query, limit=search.limit)
    shown = list(map(ShortMemoryOut.model_validate, found.memories))
    return build_list("memories", shown, has_more=found.has_more)


@tool("write", "Remember a fact about the owner, in one sentence.")
async def create_memory(deps: LibraryDeps, uid: UserId, memory: NewMemory) -> Result:
    stored = await call_route(deps, uid, memories.add_memory, body=dict(memory))
    return {"success": True, "memory": ShortMemoryOut.model_validate(stored)}


@tool("write", "Change what a fact about the owner says.")
async def edit_memory(deps: LibraryDeps, uid: UserId, memory: MemoryText) -> Result:
    path, body = {"memory_id": memory.memory_id}, {"value": memory.content}
    await call_route(deps, uid, memories.edit_memory, path=path, body=body)
    return {"success": True}


@tool("delete", "Delete a fact about the owner, for good.")
async def delete_memory(deps: LibraryDeps, uid: UserId, memory: MemoryName) -> Result:
    await call_route(deps, uid, memories.delete_memory, path=dict(memory))
    return {"success": True}


@tool("read", "List the people whom the owner named, newest first.")
async def get_people(deps: LibraryDeps, uid: UserId, _: NoArguments) -> Result:
    found = await deps.stores.people.list_newest(uid, limit=MAX_LISTED_PEOPLE + 1)
    shown = [{"id": p.id, "name": p.name, "role": p.role} for p in found[:MAX_LISTED_PEOPLE]]
    return build_list("people", shown, has_more=len(found) > len(shown))


TOOLS = (
    search_memories,
    get_memories,
    create_memory,
    edit_memory,
    delete_memory,
    get_people,
)
