"""Routes of integrations: installed apps read and write the library, each by its own key."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import JSONResponse, Response

from functions.library.deps import AppRequestDeps
from functions.library.programs.integrations import library_reader
from functions.library.programs.integrations.authorization import (
    MAX_REQUESTS_PER_HOUR,
    AuthorizedApp,
    authorize_app,
    consume_quota,
)
from functions.library.programs.integrations.integration_schemas import (
    AppMemoryOut,
    AppTaskOut,
    ConversationsOut,
    ConversationsQuery,
    EmptyOut,
    ExternalConversationIn,
    ExternalMemoryIn,
    ExternalSearchIn,
    MemoriesOut,
    MemoriesQuery,
    OwnerQuery,
    SearchOut,
    SearchQuery,
    TasksOut,
    TasksQuery,
)
from functions.library.programs.integrations.library_writer import (
    build_conversation,
    store_conversation,
    store_facts,
)
from functions.library.programs.integrations.text_facts import find_facts
from shared.domain.errors import QuotaExceeded, TooMany
from shared.edge.declare.problems import build_problem
from shared.edge.declare.rate_limit_headers import build_rate_limit_headers, too_many_requests
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.edge.declare.schemas import Wire
from shared.library.deps import IntegrationDeps

MAX_BODY_BYTES = 8_388_608
"""Room for the longest text with every character escaped."""
REFUSAL_STATUSES = (400, 401, 403, 404, 413, 422, 429)


@route(
    "POST",
    "/v2/integrations/{app_id}/user/conversations",
    "Hand in a text as a conversation; it is processed afterwards",
    access="anyone",
    authorize=authorize_app("create_conversation"),
    errors=(*REFUSAL_STATUSES, 415),
    max_bytes=MAX_BODY_BYTES,
)
async def add_conversation(
    deps: IntegrationDeps, call: CreatingCall[ExternalConversationIn, OwnerQuery, AuthorizedApp]
) -> EmptyOut | Response:
    """Store the text as a conversation, which is processed like any other."""
    conversation = build_conversation(call.caller.app, call.body, call.operation)
    return await _write(deps, call, lambda: store_conversation(deps, call.caller.uid, conversation))


@route(
    "POST",
    "/v2/integrations/{app_id}/user/memories",
    "Add facts about the user, or a text in which a model finds some",
    access="anyone",
    authorize=authorize_app("create_facts"),
    errors=(*REFUSAL_STATUSES, 415, 503),
    max_bytes=MAX_BODY_BYTES,
)
async def add_memories(
    deps: AppRequestDeps, call: CreatingCall[ExternalMemoryIn, OwnerQuery, AuthorizedApp]
) -> EmptyOut | Response:
    """Store facts as they are, and those that a text holds; the text itself is not kept."""
    body, app, uid = call.body, call.caller.app, call.caller.uid

    async def store() -> None:
        facts = tuple(body.memories or ())
        if body.text and body.text.strip():
            facts += await find_facts(deps, uid, body.text, source=body.text_source)
        await store_facts(deps, uid, app, facts, call.operation.begun_at)

    return await _write(deps, call, store)


@route(
    "GET",
    "/v2/integrations/{app_id}/memories",
    "List the user's memories, newest first",
    access="anyone",
    authorize=authorize_app("read_memories"),
    errors=REFUSAL_STATUSES,
)
async def list_memories(
    deps: IntegrationDeps, call: Call[None, MemoriesQuery, AuthorizedApp]
) -> MemoriesOut | Response:
    query = call.query

    async def load_memories() -> MemoriesOut:
        memories = await deps.stores.memories.list_newest(
            call.caller.uid, limit=query.limit, offset=query.offset
        )
        return MemoriesOut(memories=[AppMemoryOut.of(query.uid, memory) for memory in memories])

    return await _read(deps, call, load_memories)


@route(
    "GET",
    "/v2/integrations/{app_id}/conversations",
    "List the user's conversations, newest first",
    access="anyone",
    authorize=authorize_app("read_conversations"),
    errors=REFUSAL_STATUSES,
)
async def list_conversations(
    deps: IntegrationDeps, call: Call[None, ConversationsQuery, AuthorizedApp]
) -> ConversationsOut | Response:
    async def load_conversations() -> ConversationsOut:
        items = await library_reader.list_conversations(deps, call.caller.uid, call.query)
        return ConversationsOut(conversations=items)

    return await _read(deps, call, load_conversations)


@route(
    "POST",
    "/v2/integrations/{app_id}/search/conversations",
    "Find the user's conversations by what was said in them",
    access="anyone",
    authorize=authorize_app("read_conversations"),
    errors=(*REFUSAL_STATUSES, 415),
)
async def search_conversations(
    deps: IntegrationDeps, call: Call[ExternalSearchIn, SearchQuery, AuthorizedApp]
) -> SearchOut | Response:
    async def load_hits() -> SearchOut:
        return await library_reader.search_conversations(
            deps, call.caller.uid, call.body, call.query.max_transcript_segments
        )

    return await _read(deps, call, load_hits)


@route(
    "GET",
    "/v2/integrations/{app_id}/tasks",
    "List the user's action items, newest first",
    access="anyone",
    authorize=authorize_app("read_tasks"),
    errors=REFUSAL_STATUSES,
)
async def list_tasks(
    deps: IntegrationDeps, call: Call[None, TasksQuery, AuthorizedApp]
) -> TasksOut | Response:
    async def load_tasks() -> TasksOut:
        tasks = await library_reader.list_tasks(deps, call.caller.uid, call.query)
        return TasksOut(tasks=[AppTaskOut.model_validate(task) for task in tasks])

    return await _read(deps, call, load_tasks)


async def _write(
    deps: IntegrationDeps,
    call: CreatingCall[Any, OwnerQuery, AuthorizedApp],
    store: Callable[[], Awaitable[None]],
) -> Response:
    """Add to the library; a refusal does not count towards the limit."""
    operation = call.operation
    try:
        rate_limit = await consume_quota(deps, call, consumer=operation.name, at=operation.begun_at)
        await store()
    except QuotaExceeded:
        raise
    except TooMany as error:
        return too_many_requests(error, limit=MAX_REQUESTS_PER_HOUR)
    return JSONResponse({}, headers=build_rate_limit_headers(rate_limit))


async def _read(
    deps: IntegrationDeps,
    call: Call[Any, OwnerQuery, AuthorizedApp],
    load_body: Callable[[], Awaitable[Wire]],
) -> Response:
    """Answer with a body of which nulls are left out."""
    try:
        rate_limit = await consume_quota(deps, call, consumer=deps.new_id(), at=deps.clock.now())
        body = (await load_body()).model_dump_json(exclude_none=True)
    except TooMany as error:
        return too_many_requests(error, limit=MAX_REQUESTS_PER_HOUR)
    except library_reader.InvalidDate as error:
        return build_problem(400, str(error))
    return Response(
        body, media_type="application/json", headers=build_rate_limit_headers(rate_limit)
    )


ROUTES = (
    add_conversation,
    add_memories,
    add_memories.at("/v2/integrations/{app_id}/user/facts"),
    add_memories.at("/v1/integrations/{app_id}/memories"),
    list_memories,
    list_memories.at("/v1/integrations/{app_id}/memories"),
    list_conversations,
    search_conversations,
    list_tasks,
)
