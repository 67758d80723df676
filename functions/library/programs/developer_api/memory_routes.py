"""Memories in the developer API."""

from typing import Any

from starlette.responses import Response

from functions.library.memories import memories
from functions.library.pagination import build_page_response
from functions.library.programs.developer_api.developer_schemas import (
    DeveloperMemoriesIn,
    DeveloperMemoriesQuery,
    DeveloperMemoryChangeIn,
    DeveloperMemoryIn,
    MemoriesCreatedOut,
    SuccessOut,
)
from functions.library.programs.key_access import KeyOwner, authorize_developer_key
from functions.library.programs.listings import list_memories
from functions.library.programs.program_schemas import ProgramMemoryOut
from functions.library.programs.route_calls import PROGRAM_KINDS, call_route
from shared.domain.store.operation import Operation
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.library.deps import LibraryDeps

PATH = "/v1/dev/user/memories"
MAX_BATCH_BYTES = 262_144


@route(
    "GET",
    PATH,
    "List memories, newest first, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("memories:read"),
    errors=(401, 403, 422, 429),
)
async def list_owner_memories(
    deps: LibraryDeps, call: Call[None, DeveloperMemoriesQuery, KeyOwner]
) -> list[ProgramMemoryOut] | Response:
    page = await list_memories(deps, call.caller.uid, call.query.to_filter())
    return build_page_response(page, ProgramMemoryOut)


@route(
    "POST",
    PATH,
    "Write down a fact, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("memories:write"),
    errors=(401, 403, 429),
)
async def add_memory(
    deps: LibraryDeps, call: CreatingCall[DeveloperMemoryIn, None, KeyOwner]
) -> ProgramMemoryOut:
    return await _add(deps, call, call.operation, call.body)


@route(
    "POST",
    f"{PATH}/batch",
    "Write down up to 25 facts, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("memories:write"),
    errors=(401, 403, 429),
    max_bytes=MAX_BATCH_BYTES,
)
async def add_memories(
    deps: LibraryDeps, call: CreatingCall[DeveloperMemoriesIn, None, KeyOwner]
) -> MemoriesCreatedOut:
    """Add one after the other; a fact that is there already is not added again."""
    added = [
        await _add(deps, call, call.operation.build_part(n), memory)
        for n, memory in enumerate(call.body.memories)
    ]
    return MemoriesCreatedOut(memories=added, created_count=len(added))


@route(
    "PATCH",
    f"{PATH}/{{memory_id}}",
    "Change a memory, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("memories:write"),
    errors=(401, 403, 404, 429),
)
async def change_memory(
    deps: LibraryDeps, call: Call[DeveloperMemoryChangeIn, None, KeyOwner]
) -> SuccessOut:
    changes, memory_id = call.body.to_changes(), call.path["memory_id"]
    await memories.change_memory(
        deps, call.caller.uid, memory_id, read_kinds=PROGRAM_KINDS, **changes
    )
    return SuccessOut()


@route(
    "DELETE",
    f"{PATH}/{{memory_id}}",
    "Delete a memory, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("memories:write"),
    errors=(401, 403, 404, 429),
)
async def delete_memory(deps: LibraryDeps, call: Call[None, None, KeyOwner]) -> SuccessOut:
    await call_route(deps, call.caller.uid, memories.delete_memory, path=call.path)
    return SuccessOut()


async def _add(
    deps: LibraryDeps,
    call: CreatingCall[Any, None, KeyOwner],
    operation: Operation,
    memory: DeveloperMemoryIn,
) -> ProgramMemoryOut:
    uid, body = call.caller.uid, dict(memory)
    stored = await call_route(deps, uid, memories.add_memory, body=body, operation=operation)
    return ProgramMemoryOut.model_validate(stored)


ROUTES = (
    list_owner_memories,
    add_memory,
    add_memories,
    change_memory,
    delete_memory,
)
