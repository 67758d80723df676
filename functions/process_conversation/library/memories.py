"""Memories over HTTP: the owner's word stands above whatever was extracted."""

from typing import Any

from starlette.responses import Response

from functions.process_conversation.derived import revivals, revived
from functions.process_conversation.identity import derived_id
from functions.process_conversation.library.listing import array, listed
from functions.process_conversation.library.wire import (
    MemoryIn,
    MemoryMerge,
    MemoryOut,
    MemoryValueQuery,
    Ok,
    PageQuery,
    ReviewQuery,
    SearchBody,
    VisibilityQuery,
)
from functions.process_conversation.memory_rows import put_rows
from functions.process_conversation.wiring import LibraryDeps
from shared.domain.documents import Write
from shared.domain.ids import MemoryId, UserId
from shared.domain.memory import Memory
from shared.edge.http import Call, Endpoint

MAX_HISTORY = 100
DELETED_AT_ONCE = 100


async def list_memories(deps: LibraryDeps, call: Call[None]) -> Response:
    page = await listed(deps.memories, call)
    found = [_out(call.uid, memory) for memory in page.items]
    return array(found, MemoryOut, page.next_cursor)


async def add_memory(deps: LibraryDeps, call: Call[MemoryIn]) -> MemoryOut:
    now = deps.clock.now()
    memory = Memory(
        id=MemoryId(call.body.id or deps.new_id()),
        content=call.body.content,
        category="manual",
        created_at=now,
        updated_at=now,
        visibility=call.body.visibility,
        manually_added=True,
    )
    stored = await deps.memories.add(call.uid, memory)
    await put_rows(deps.memories, deps.index, call.uid, [stored])
    return _out(call.uid, stored)


async def merge_memories(deps: LibraryDeps, call: Call[MemoryMerge]) -> MemoryOut:
    """Write the new memory first; one id for the same merge, so that a second attempt goes on."""
    merged = [await deps.memories.get(call.uid, name) for name in dict.fromkeys(call.body.ids)]
    now = deps.clock.now()
    whole = Memory(
        id=MemoryId(derived_id("\n".join(sorted(call.body.ids)), "merge", call.body.content)),
        content=call.body.content,
        category="manual",
        created_at=now,
        updated_at=now,
        manually_added=True,
    )
    stored = await deps.memories.add(call.uid, whole)
    for memory in merged:
        await deps.memories.change(
            call.uid, memory.id, valid_to=stored.created_at, superseded_by=stored.id
        )
    await deps.index.remove_memories(call.uid, [memory.id for memory in merged])
    await put_rows(deps.memories, deps.index, call.uid, [stored])
    return _out(call.uid, stored)


async def get_memory(deps: LibraryDeps, call: Call[None]) -> MemoryOut:
    return _out(call.uid, await deps.memories.get(call.uid, call.path["memory_id"]))


async def get_history(deps: LibraryDeps, call: Call[None]) -> list[MemoryOut]:
    """Follow the corrections back, as far as they are kept."""
    found: list[Memory] = []
    latest = [await deps.memories.get(call.uid, call.path["memory_id"])]
    while latest and len(found) < MAX_HISTORY:
        latest = await deps.memories.superseded_by(call.uid, [memory.id for memory in latest])
        found += latest
    return [_out(call.uid, memory) for memory in found]


async def edit_memory(deps: LibraryDeps, call: Call[None]) -> Ok:
    query: MemoryValueQuery = call.query
    changed = await _change(deps, call, content=query.value, edited=True)
    await put_rows(deps.memories, deps.index, call.uid, [changed])
    return Ok()


async def show_memory(deps: LibraryDeps, call: Call[None]) -> Ok:
    query: VisibilityQuery = call.query
    await _change(deps, call, visibility=query.value)
    return Ok()


async def review_memory(deps: LibraryDeps, call: Call[None]) -> Ok:
    query: ReviewQuery = call.query
    if query.value:
        await _change(deps, call, reviewed=True)
    else:
        await delete_memory(deps, call)
    return Ok()


async def delete_memory(deps: LibraryDeps, call: Call[None]) -> Ok:
    memory = await deps.memories.get(call.uid, call.path["memory_id"])
    await _forget(deps, call.uid, memory)
    return Ok()


async def delete_all_memories(deps: LibraryDeps, call: Call[None]) -> Ok:
    while memories := await deps.memories.any(call.uid, limit=DELETED_AT_ONCE):
        await deps.index.remove_memories(call.uid, [memory.id for memory in memories])
        for memory in memories:
            marks = _marks(deps, call.uid, memory)
            await deps.memories.forget(call.uid, memory, beside=marks)
    return Ok()


async def search_memories(deps: LibraryDeps, call: Call[SearchBody]) -> list[MemoryOut]:
    found = await deps.search.memories(call.uid, call.body.query, limit=call.body.limit)
    return [_out(call.uid, memory) for memory in found]


async def _forget(deps: LibraryDeps, uid: UserId, memory: Memory) -> None:
    """Delete a memory for good; what it had corrected holds again.

    Rows first: what is cut short here is found, and deleted, by the next attempt.
    """
    back = revived(await deps.memories.superseded_by(uid, [memory.id]), [memory])
    await deps.index.remove_memories(uid, [memory.id])
    await deps.index.put_memories(uid, [one for one in back if one.is_current])
    beside = [*_marks(deps, uid, memory), *revivals(uid, back)]
    await deps.memories.forget(uid, memory, beside=beside)


def _marks(deps: LibraryDeps, uid: UserId, memory: Memory) -> list[Write]:
    """Return what keeps the app, and the conversations that said it again, from bringing it back."""
    apps = [deps.memories.app_mark(uid, memory.id)] if memory.app_id else []
    return apps + [
        deps.memories.mark(uid, heard_in, derived_id(heard_in, "memory", memory.content))
        for heard_in in memory.seen_in
    ]


async def _change(deps: LibraryDeps, call: Call[None], **changes: Any) -> Memory:
    now = deps.clock.now()
    return await deps.memories.change(call.uid, call.path["memory_id"], updated_at=now, **changes)


def _out(uid: UserId, memory: Memory) -> MemoryOut:
    """The old app knows a conversation by the name of `memory_id`, too."""
    return MemoryOut(
        id=memory.id,
        uid=uid,
        content=memory.content,
        category=memory.category,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        conversation_id=memory.conversation_id,
        memory_id=memory.conversation_id,
        visibility=memory.visibility,
        manually_added=memory.manually_added,
        edited=memory.edited,
        evidence=memory.evidence,
        segment=memory.segment,
        mentions=1 + len(memory.seen_in),
        valid_to=memory.valid_to,
        reviewed=memory.reviewed,
        user_review=memory.user_review,
        app_id=memory.app_id,
    )


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/v3/memories",
        handler=list_memories,
        summary="List memories, newest first; X-Next-Cursor leads to the next page",
        query=PageQuery,
        response=list[MemoryOut],
        errors=(401, 422),
    ),
    Endpoint(
        method="POST",
        path="/v3/memories",
        handler=add_memory,
        summary="Write down a fact",
        body=MemoryIn,
        response=MemoryOut,
        errors=(400, 401, 409, 413, 415, 422),
    ),
    Endpoint(
        method="DELETE",
        path="/v3/memories",
        handler=delete_all_memories,
        summary="Delete all memories",
        response=Ok,
        errors=(401,),
    ),
    Endpoint(
        method="POST",
        path="/v3/memories/search",
        handler=search_memories,
        summary="Find memories, best first",
        body=SearchBody,
        response=list[MemoryOut],
        errors=(400, 401, 413, 415, 422),
    ),
    Endpoint(
        method="POST",
        path="/v3/memories/merge",
        handler=merge_memories,
        summary="Make one memory of several; they become its history",
        body=MemoryMerge,
        response=MemoryOut,
        errors=(400, 401, 404, 413, 415, 422),
    ),
    Endpoint(
        method="GET",
        path="/v3/memories/{memory_id}",
        handler=get_memory,
        summary="Read a memory with its evidence",
        response=MemoryOut,
        errors=(401, 404),
    ),
    Endpoint(
        method="GET",
        path="/v3/memories/{memory_id}/history",
        handler=get_history,
        summary="Read what a memory took the place of, newest first",
        response=list[MemoryOut],
        errors=(401, 404),
    ),
    Endpoint(
        method="PATCH",
        path="/v3/memories/{memory_id}",
        handler=edit_memory,
        summary="Change what a memory says",
        query=MemoryValueQuery,
        response=Ok,
        errors=(401, 404, 422),
    ),
    Endpoint(
        method="PATCH",
        path="/v3/memories/{memory_id}/visibility",
        handler=show_memory,
        summary="Change who may see a memory",
        query=VisibilityQuery,
        response=Ok,
        errors=(401, 404, 422),
    ),
    Endpoint(
        method="POST",
        path="/v3/memories/{memory_id}/review",
        handler=review_memory,
        summary="Confirm a memory, or have it deleted as wrong",
        query=ReviewQuery,
        response=Ok,
        errors=(401, 404, 422),
    ),
    Endpoint(
        method="DELETE",
        path="/v3/memories/{memory_id}",
        handler=delete_memory,
        summary="Delete a memory; it does not come back",
        response=Ok,
        errors=(401, 404),
    ),
)
