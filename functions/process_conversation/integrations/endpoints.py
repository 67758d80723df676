"""The library as apps see it: by their key, for users who installed them, by declared action."""

from typing import Any

from starlette.responses import JSONResponse, Response

from functions.process_conversation.integrations import reading
from functions.process_conversation.integrations.access import Action, permitted, take_turn
from functions.process_conversation.integrations.wire import (
    ConversationsOut,
    ConversationsQuery,
    ExternalConversationIn,
    ExternalMemoryIn,
    ExternalSearchIn,
    MemoriesOut,
    MemoriesQuery,
    MemoryItem,
    Nothing,
    OwnerQuery,
    SearchOut,
    SearchQuery,
    TaskItem,
    TasksOut,
    TasksQuery,
)
from functions.process_conversation.integrations.writing import conversation_of, remember
from functions.process_conversation.wiring import IntegrationDeps
from shared.domain.operation import Operation
from shared.edge.http import Call, Endpoint, Wire
from shared.edge.idempotency import KeyHeader, once

MAX_BODY_BYTES = 8_388_608
"""Room for the longest text, escaped."""


async def add_conversation(deps: IntegrationDeps, call: Call[ExternalConversationIn]) -> Response:
    """Store it; it is processed afterwards, as every conversation is."""
    app = await permitted(deps, call, "create_conversation")

    async def work(operation: Operation) -> Response:
        conversation = conversation_of(app, call.body, operation)
        await _count(deps, call, "create_conversation", operation)
        await deps.conversations.add(call.query.uid, conversation)
        return JSONResponse({})

    return await once(deps, call, uid=call.query.uid, caller=app.id, work=work)


async def add_memories(deps: IntegrationDeps, call: Call[ExternalMemoryIn]) -> Response:
    """Store facts as they are; facts are found in a text as in every conversation."""
    app, said, uid = await permitted(deps, call, "create_facts"), call.body, call.query.uid

    async def work(operation: Operation) -> Response:
        text = ExternalConversationIn(text=said.text or "")
        read = conversation_of(app, text, operation) if text.text.strip() else None
        await _count(deps, call, "create_facts", operation)
        for fact in said.memories or ():
            await remember(deps, uid, app, fact.content, operation.begun_at)
        if read is not None:
            await deps.conversations.add(uid, read)
        return JSONResponse({})

    return await once(deps, call, uid=uid, caller=app.id, work=work)


async def list_memories(deps: IntegrationDeps, call: Call[None]) -> Response:
    await _admit(deps, call, "read_memories")
    query: MemoriesQuery = call.query
    found = await deps.memories.newest(query.uid, limit=query.limit, offset=query.offset)
    return _without_nulls(MemoriesOut(memories=[MemoryItem.of(query.uid, one) for one in found]))


async def list_conversations(deps: IntegrationDeps, call: Call[None]) -> Response:
    await _admit(deps, call, "read_conversations")
    found = await reading.conversations(deps, call.query.uid, call.query)
    return _without_nulls(ConversationsOut(conversations=found))


async def search_conversations(deps: IntegrationDeps, call: Call[ExternalSearchIn]) -> Response:
    await _admit(deps, call, "read_conversations")
    query: SearchQuery = call.query
    found = await reading.search(deps, query.uid, call.body, query.max_transcript_segments)
    return _without_nulls(found)


async def list_tasks(deps: IntegrationDeps, call: Call[None]) -> Response:
    await _admit(deps, call, "read_tasks")
    found = await reading.tasks(deps, call.query.uid, call.query)
    return _without_nulls(TasksOut(tasks=[TaskItem.model_validate(one) for one in found]))


async def _admit(deps: IntegrationDeps, call: Call[Any], action: Action) -> None:
    await permitted(deps, call, action)
    await take_turn(deps, call, action, taker=deps.new_id(), at=deps.clock.now())


async def _count(
    deps: IntegrationDeps, call: Call[Any], action: Action, operation: Operation
) -> None:
    await take_turn(deps, call, action, taker=operation.name, at=operation.begun_at)


def _without_nulls(answer: Wire) -> Response:
    return Response(answer.model_dump_json(exclude_none=True), media_type="application/json")


REFUSALS = (400, 401, 403, 404, 413, 422, 429)
ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/v2/integrations/{app_id}/user/conversations",
        handler=add_conversation,
        summary="Hand in a text as a conversation; it is processed afterwards",
        access="anyone",
        query=OwnerQuery,
        headers=KeyHeader,
        body=ExternalConversationIn,
        response=Nothing,
        max_bytes=MAX_BODY_BYTES,
        errors=(*REFUSALS, 409, 415),
    ),
    Endpoint(
        method="POST",
        path="/v2/integrations/{app_id}/user/memories",
        handler=add_memories,
        summary="Add facts about the user, or a text to find some in",
        access="anyone",
        query=OwnerQuery,
        headers=KeyHeader,
        body=ExternalMemoryIn,
        response=Nothing,
        max_bytes=MAX_BODY_BYTES,
        errors=(*REFUSALS, 409, 415),
    ),
    Endpoint(
        method="GET",
        path="/v2/integrations/{app_id}/memories",
        handler=list_memories,
        summary="List the user's memories, newest first",
        access="anyone",
        query=MemoriesQuery,
        response=MemoriesOut,
        errors=REFUSALS,
    ),
    Endpoint(
        method="GET",
        path="/v2/integrations/{app_id}/conversations",
        handler=list_conversations,
        summary="List the user's conversations, newest first",
        access="anyone",
        query=ConversationsQuery,
        response=ConversationsOut,
        errors=REFUSALS,
    ),
    Endpoint(
        method="POST",
        path="/v2/integrations/{app_id}/search/conversations",
        handler=search_conversations,
        summary="Find the user's conversations by what was said in them",
        access="anyone",
        query=SearchQuery,
        body=ExternalSearchIn,
        response=SearchOut,
        errors=(*REFUSALS, 415),
    ),
    Endpoint(
        method="GET",
        path="/v2/integrations/{app_id}/tasks",
        handler=list_tasks,
        summary="List the user's action items, newest first",
        access="anyone",
        query=TasksQuery,
        response=TasksOut,
        errors=REFUSALS,
    ),
)
