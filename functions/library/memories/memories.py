"""Memories over HTTP: list, write, merge, edit, review and delete; the owner's changes always win."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anyio import to_thread
from starlette.responses import Response

from functions.library.memories.memory_schemas import (
    MAX_LISTED_MEMORIES,
    MemoriesQuery,
    MemoryMergeIn,
    MemoryOut,
    MemoryValueIn,
    ReviewQuery,
    VisibilityQuery,
)
from functions.library.schemas import LibrarySearchIn
from shared.data.store.paging import format_cursor
from shared.domain.conversations.derived_ids import build_derived_id
from shared.domain.ids import UserId
from shared.domain.memories.memory import Memory
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.pagination import build_array_response
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.library import owner_memories
from shared.library.deps import LibraryDeps
from shared.library.manual_memories import build_manual_memory, find_manual_memory
from shared.library.memory_index import index_memories
from shared.library.record_schemas import MemoryIn

MAX_HISTORY = 100
MAX_ON_THE_LOOP = 500
"""A longer list is rendered in a thread."""


@route(
    "GET",
    "/v3/memories",
    "List memories, newest first; X-Next-Cursor leads to the next page, offset=0 gives all at once",
    errors=(401, 422),
)
async def list_memories(
    deps: LibraryDeps, call: Call[None, MemoriesQuery]
) -> list[MemoryOut] | Response:
    query = call.query
    if query.offset is not None:
        return await _list_by_offset(deps, call.uid, offset=query.offset, limit=query.limit)
    page = await deps.stores.memories.list_page(call.uid, limit=query.limit, after=query.cursor)
    return await _build_list_response(call.uid, page.items, page.next)


async def _list_by_offset(
    deps: LibraryDeps, uid: UserId, *, offset: int, limit: int
) -> list[MemoryOut] | Response:
    """Answer the first 5,000 at once, and none beyond them: skipped ones are read too. A cursor leads on."""
    count = min(limit, MAX_LISTED_MEMORIES - offset) if offset else MAX_LISTED_MEMORIES
    if count <= 0:
        return []
    memories = await deps.stores.memories.list_newest(uid, limit=count + 1, offset=offset)
    shown = memories[:count]
    has_more = len(memories) > count
    cursor = format_cursor((shown[-1].created_at, shown[-1].id)) if has_more else None
    return await _build_list_response(uid, shown, cursor)


@route("POST", "/v3/memories", "Write down a fact", errors=(400, 401, 409, 413, 415, 422))
async def add_memory(deps: LibraryDeps, call: CreatingCall[MemoryIn]) -> MemoryOut:
    """Return the fact that is there when it is sent again: released apps repeat without an id."""
    body, is_own = call.body, not call.read_kinds
    if body.id is None and (
        known := await find_manual_memory(
            deps.stores.memories, call.uid, body.content, is_own=is_own
        )
    ):
        return _to_response(call.uid, known)
    memory = replace(
        build_manual_memory(
            body.id or call.operation.name,
            body.content,
            deps.clock.now(),
            body.category,
            call.read_kinds,
        ),
        visibility=body.visibility,
        tags=body.tags,
    )
    stored_memory = await deps.stores.memories.add(call.uid, memory)
    await index_memories(deps.stores.memories, deps.index, call.uid, [stored_memory])
    return _to_response(call.uid, stored_memory)


@route(
    "POST",
    "/v3/memories/merge",
    "Make one memory of several; they become its history",
    errors=(400, 401, 404, 413, 415, 422),
)
async def merge_memories(deps: LibraryDeps, call: CreatingCall[MemoryMergeIn]) -> MemoryOut:
    """Write the new memory first, under an id of its sources: a second attempt continues."""
    sources = [
        await deps.stores.memories.get(call.uid, name) for name in dict.fromkeys(call.body.ids)
    ]
    merged_id = build_derived_id("\n".join(sorted(call.body.ids)), "merge", call.body.content)
    merged_memory = build_manual_memory(merged_id, call.body.content, deps.clock.now())
    stored_memory = await deps.stores.memories.add(call.uid, merged_memory)
    for memory in sources:
        await deps.stores.memories.change(
            call.uid, memory.id, valid_to=stored_memory.created_at, superseded_by=stored_memory.id
        )
    await deps.index.remove_memories(call.uid, [memory.id for memory in sources])
    await index_memories(deps.stores.memories, deps.index, call.uid, [stored_memory])
    return _to_response(call.uid, stored_memory)


@route("GET", "/v3/memories/{memory_id}", "Read a memory with its evidence", errors=(401, 404))
async def get_memory(deps: LibraryDeps, call: Call) -> MemoryOut:
    return _to_response(call.uid, await deps.stores.memories.get(call.uid, call.path["memory_id"]))


@route(
    "GET",
    "/v3/memories/{memory_id}/history",
    "Read what a memory took the place of, newest first",
    errors=(401, 404),
)
async def get_history(deps: LibraryDeps, call: Call) -> list[MemoryOut]:
    """List superseded memories, newest first, as far as they are stored."""
    history: list[Memory] = []
    latest = [await deps.stores.memories.get(call.uid, call.path["memory_id"])]
    while latest and len(history) < MAX_HISTORY:
        latest = await deps.stores.memories.list_superseded_by(
            call.uid, [memory.id for memory in latest]
        )
        history += latest
    return [_to_response(call.uid, memory) for memory in history]


@route(
    "PATCH",
    "/v3/memories/{memory_id}",
    "Change what a memory says",
    errors=(401, 404, 422),
    is_query_accepted=True,
)
async def edit_memory(deps: LibraryDeps, call: Call[MemoryValueIn]) -> OkOut:
    name, kinds = call.path["memory_id"], call.read_kinds
    await change_memory(deps, call.uid, name, read_kinds=kinds, content=call.body.value)
    return OkOut()


@route(
    "PATCH",
    "/v3/memories/{memory_id}/visibility",
    "Change who may see a memory",
    errors=(401, 404, 422),
)
async def set_visibility(deps: LibraryDeps, call: Call[None, VisibilityQuery]) -> OkOut:
    await change_memory(deps, call.uid, call.path["memory_id"], visibility=call.query.value)
    return OkOut()


@route(
    "POST",
    "/v3/memories/{memory_id}/review",
    "Confirm a memory, or have it deleted as wrong",
    errors=(401, 404, 422),
)
async def review_memory(deps: LibraryDeps, call: Call[None, ReviewQuery]) -> OkOut:
    if call.query.value:
        await change_memory(deps, call.uid, call.path["memory_id"], reviewed=True)
    else:
        await _delete(deps, call)
    return OkOut()


@route(
    "DELETE",
    "/v3/memories/{memory_id}",
    "Delete a memory; it does not come back",
    errors=(401, 404),
)
async def delete_memory(deps: LibraryDeps, call: Call) -> OkOut:
    await _delete(deps, call)
    return OkOut()


@route("DELETE", "/v3/memories", "Delete all memories", errors=(401,))
async def delete_all_memories(deps: LibraryDeps, call: Call) -> OkOut:
    await deps.stores.profiles.begin_wipe(call.uid, now=deps.clock.now())
    await owner_memories.delete_all_memories(deps.stores.memories, deps.index, call.uid)
    await deps.stores.bin_entries.forget_memories(call.uid)
    return OkOut()


@route("POST", "/v3/memories/search", "Find memories, best first", errors=(400, 401, 413, 415, 422))
async def search_memories(
    deps: LibraryDeps, call: Call[LibrarySearchIn]
) -> list[MemoryOut] | Response:
    found = await deps.search.find_memories(call.uid, call.body.query, limit=call.body.limit)
    shown = [_to_response(call.uid, memory) for memory in found.memories]
    return build_array_response(shown, MemoryOut, has_more=found.has_more)


async def change_memory(deps: LibraryDeps, uid: UserId, memory_id: str, **changes: Any) -> Memory:
    """Make the owner's changes of a memory. Raises NotFound."""
    _, memory = await owner_memories.change_memory(
        deps.stores.memories, deps.index, deps.clock, uid, memory_id, **changes
    )
    return memory


async def _delete(deps: LibraryDeps, call: Call[None, Any]) -> None:
    await owner_memories.delete_memory(
        deps.stores.memories, deps.index, call.uid, call.path["memory_id"]
    )


async def _build_list_response(
    uid: UserId, memories: Sequence[Memory], next_cursor: str | None
) -> Response:
    """Build the array; a long one in a thread, so that other requests are not delayed."""

    def build() -> Response:
        responses = [_to_response(uid, memory) for memory in memories]
        return build_array_response(responses, MemoryOut, next_cursor)

    return await to_thread.run_sync(build) if len(memories) > MAX_ON_THE_LOOP else build()


def _to_response(uid: UserId, memory: Memory) -> MemoryOut:
    """Build the response; the old app also reads the conversation's id from `memory_id`."""
    return MemoryOut.of(
        uid, memory, memory_id=memory.conversation_id, mentions=1 + len(memory.seen_in)
    )


ROUTES = (
    list_memories,
    add_memory,
    delete_all_memories,
    search_memories,
    merge_memories,
    get_memory,
    get_history,
    edit_memory,
    set_visibility,
    review_memory,
    delete_memory,
)
