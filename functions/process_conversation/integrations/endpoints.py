"""The library as apps see it: by their key, for users who installed them, by declared action."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import JSONResponse, Response

from functions.process_conversation.integrations import reading
from functions.process_conversation.integrations.access import (
    PER_HOUR,
    permitted,
    take_turn,
)
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
from functions.process_conversation.integrations.writing import Addition, add, conversation_of
from functions.process_conversation.wiring import IntegrationDeps
from shared.domain.app import App, Permission
from shared.domain.errors import TooMany
from shared.domain.operation import Operation
from shared.edge.allowances import headers, over_limit
from shared.edge.http import Call, Endpoint, Wire
from shared.edge.idempotency import KeyHeader, once
from shared.edge.problems import problem

MAX_BODY_BYTES = 8_388_608
"""Room for the longest text, escaped."""


async def add_conversation(deps: IntegrationDeps, call: Call[ExternalConversationIn]) -> Response:
    """Store it; it is processed afterwards, as every conversation is."""

    def addition(app: App, operation: Operation) -> Addition:
        return Addition(conversation=conversation_of(app, call.body, operation))

    return await _write(deps, call, "create_conversation", addition)


async def add_memories(deps: IntegrationDeps, call: Call[ExternalMemoryIn]) -> Response:
    """Store facts as they are; facts are found in a text as in every conversation."""
    said = call.body

    def addition(app: App, operation: Operation) -> Addition:
        facts = tuple(fact.content for fact in said.memories or ())
        if not (said.text and said.text.strip()):
            return Addition(facts=facts)
        text = ExternalConversationIn(text=said.text)
        return Addition(facts=facts, conversation=conversation_of(app, text, operation))

    return await _write(deps, call, "create_facts", addition)


async def list_memories(deps: IntegrationDeps, call: Call[None]) -> Response:
    query: MemoriesQuery = call.query

    async def found() -> MemoriesOut:
        newest = await deps.memories.newest(query.uid, limit=query.limit, offset=query.offset)
        return MemoriesOut(memories=[MemoryItem.of(query.uid, memory) for memory in newest])

    return await _read(deps, call, "read_memories", found)


async def list_conversations(deps: IntegrationDeps, call: Call[None]) -> Response:
    query: ConversationsQuery = call.query

    async def found() -> ConversationsOut:
        return ConversationsOut(conversations=await reading.conversations(deps, query.uid, query))

    return await _read(deps, call, "read_conversations", found)


async def search_conversations(deps: IntegrationDeps, call: Call[ExternalSearchIn]) -> Response:
    query: SearchQuery = call.query

    async def found() -> SearchOut:
        return await reading.search(deps, query.uid, call.body, query.max_transcript_segments)

    return await _read(deps, call, "read_conversations", found)


async def list_tasks(deps: IntegrationDeps, call: Call[None]) -> Response:
    query: TasksQuery = call.query

    async def found() -> TasksOut:
        tasks = await reading.tasks(deps, query.uid, query)
        return TasksOut(tasks=[TaskItem.model_validate(task) for task in tasks])

    return await _read(deps, call, "read_tasks", found)


async def _write(
    deps: IntegrationDeps,
    call: Call[Any],
    action: Permission,
    addition: Callable[[App, Operation], Addition],
) -> Response:
    """Add to the library, once for each idempotency key; what cannot be kept does not count."""
    app, uid = await permitted(deps, call, action), call.query.uid

    async def work(operation: Operation) -> Response:
        new, at = addition(app, operation), operation.begun_at
        left = await take_turn(deps, call, action, taker=operation.name, at=at)
        await add(deps, uid, app, new, at)
        return JSONResponse({}, headers=headers(left))

    try:
        return await once(deps, call, uid=uid, caller=app.id, work=work)
    except TooMany as refused:
        return over_limit(refused, limit=PER_HOUR)


async def _read(
    deps: IntegrationDeps, call: Call[Any], action: Permission, found: Callable[[], Awaitable[Wire]]
) -> Response:
    """Answer with what is found, nulls left out."""
    await permitted(deps, call, action)
    try:
        left = await take_turn(deps, call, action, taker=deps.new_id(), at=deps.clock.now())
        body = (await found()).model_dump_json(exclude_none=True)
    except TooMany as refused:
        return over_limit(refused, limit=PER_HOUR)
    except reading.BadDate as unread:
        return problem(400, str(unread))
    return Response(body, media_type="application/json", headers=headers(left))


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
