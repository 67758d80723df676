"""Hosted MCP routes at /v1/mcp/sse, where clients of the old product look for the server.

Two transports share the address. Streamable HTTP posts messages and is answered at once, as JSON or as
events. A client of the older HTTP+SSE transport opens a stream first, and its answers come there.
"""

from collections.abc import AsyncGenerator
from datetime import datetime, timedelta
from typing import Annotated

import anyio
from pydantic import Field
from pydantic_core import to_json
from starlette.responses import Response

from functions.library.programs.key_access import KeyOwner
from functions.library.programs.mcp_server.description import MAX_MESSAGE_BYTES, SERVER_TITLE
from functions.library.programs.mcp_server.mcp_routes import authorize_client
from functions.library.programs.mcp_server.messages import (
    PROTOCOL_VERSION,
    Exchange,
    answer_messages,
)
from functions.library.programs.mcp_server.scope_check import check_scope
from functions.library.programs.mcp_server.tools import TOOLS
from shared.data.apps.mcp_sessions import build_session_id
from shared.domain.apps.mcp_session import SESSION_TTL, McpReply, McpSession
from shared.edge.declare.event_stream import EventStream
from shared.edge.declare.problems import build_problem
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire
from shared.library.deps import LibraryDeps
from shared.resilience.hour_windows import floor_to_hour
from shared.resilience.rate_limit_status import check_limit

SESSION_HEADER = "Mcp-Session-Id"
SSE_PATH = "/v1/mcp/sse"
MESSAGES_PATH = "/v1/mcp/sse/messages"
EVENT_STREAM = "text/event-stream"
MAX_STREAM = timedelta(minutes=8)
"""The platform ends a request after nine; clients open another stream."""
MAX_STREAMS_PER_HOUR = 30
"""Of one user: an open stream costs, whether or not anything is sent."""
LIVELY = timedelta(seconds=30)
LIVELY_POLL_S = 0.3
QUIET_POLL_S = 2.0
PING_PAUSE_S = 15.0
HEARTBEAT = b": ping\n\n"


class ServerOut(Wire):
    """What a client should know before it is let in."""

    name: str
    version: str
    protocol_version: str
    transport: list[str]
    tools: list[str]
    authentication: str


class SessionQuery(Wire):
    session_id: Annotated[str, Field(max_length=64)]


@route(
    "POST",
    SSE_PATH,
    "Send MCP messages; the answers are JSON or, where the client accepts them, events",
    access="anyone",
    authorize=authorize_client,
    other_statuses=(202,),
    errors=(401, 403, 404, 413, 429),
    max_bytes=MAX_MESSAGE_BYTES,
)
async def post_messages(deps: LibraryDeps, call: Call[bytes, None, KeyOwner]) -> Response:
    owner, now = call.caller, deps.clock.now()
    session_id = call.headers.get(SESSION_HEADER)
    if session_id is not None:
        await deps.stores.mcp_sessions.check(owner.uid, session_id, now)
    check_scope(deps, owner, call.body)
    exchange = await answer_messages(deps, owner, call.body)
    headers = {}
    if exchange.begins_session:
        headers[SESSION_HEADER] = await _begin_session(deps, owner, now + SESSION_TTL)
    return _build_response(exchange, headers, call.headers.get("accept", ""))


@route(
    "GET",
    SSE_PATH,
    "Open a stream: of a session's pings, or of the older transport",
    access="anyone",
    authorize=authorize_client,
    errors=(401, 403, 404, 429),
    media_type=EVENT_STREAM,
)
async def open_stream(deps: LibraryDeps, call: Call[None, None, KeyOwner]) -> Response:
    """With a session nothing but pings comes: this server has nothing to say unasked."""
    owner, now = call.caller, deps.clock.now()
    session_id = call.headers.get(SESSION_HEADER)
    if session_id is not None:
        await deps.stores.mcp_sessions.check(owner.uid, session_id, now)
    await _consume_stream(deps, owner, now)
    ends_at = now + MAX_STREAM
    if session_id is not None:
        return EventStream(_send_pings(deps, ends_at), heartbeat=HEARTBEAT)
    stream_id = await _begin_session(deps, owner, ends_at)
    return EventStream(_stream_replies(deps, owner, stream_id, ends_at), heartbeat=HEARTBEAT)


@route(
    "POST",
    MESSAGES_PATH,
    "Send MCP messages to a stream of the older transport, which brings the answers",
    access="anyone",
    authorize=authorize_client,
    status=202,
    errors=(401, 403, 404, 413, 429),
    max_bytes=MAX_MESSAGE_BYTES,
)
async def post_to_stream(deps: LibraryDeps, call: Call[bytes, SessionQuery, KeyOwner]) -> Response:
    """Store the answers for the stream, which another instance may have."""
    owner, session_id = call.caller, call.query.session_id
    await deps.stores.mcp_sessions.check(owner.uid, session_id, deps.clock.now())
    check_scope(deps, owner, call.body)
    exchange = await answer_messages(deps, owner, call.body)
    for answer in exchange.answers:
        now = deps.clock.now()
        text = to_json(answer).decode()
        reply = McpReply(id=deps.new_id(), at=now, text=text, expires_at=now + MAX_STREAM)
        await deps.stores.mcp_sessions.add_reply(owner.uid, session_id, reply)
    return Response(status_code=202)


@route(
    "DELETE",
    SSE_PATH,
    "End a session",
    access="anyone",
    authorize=authorize_client,
    status=204,
    errors=(400, 401, 403, 404, 429),
)
async def end_session(deps: LibraryDeps, call: Call[None, None, KeyOwner]) -> Response:
    owner, session_id = call.caller, call.headers.get(SESSION_HEADER)
    if not session_id:
        return build_problem(400, f"Name the session in {SESSION_HEADER}.")
    await deps.stores.mcp_sessions.check(owner.uid, session_id, deps.clock.now())
    await deps.stores.mcp_sessions.end(owner.uid, session_id)
    return Response(status_code=204)


@route("GET", f"{SSE_PATH}/info", "Describe the MCP server", access="anyone")
async def describe_server(_: LibraryDeps, __: Call) -> ServerOut:
    return ServerOut(
        name=SERVER_TITLE,
        version="1",
        protocol_version=PROTOCOL_VERSION,
        transport=["streamable_http", "sse"],
        tools=list(TOOLS),
        authentication="A token by OAuth, or a key of /v1/mcp/keys, in the header Authorization, as Bearer",
    )


async def _begin_session(deps: LibraryDeps, owner: KeyOwner, expires_at: datetime) -> str:
    session_id = build_session_id(owner.uid, deps.new_id())
    session = McpSession(id=session_id, created_at=deps.clock.now(), expires_at=expires_at)
    await deps.stores.mcp_sessions.begin(owner.uid, session)
    return session_id


async def _consume_stream(deps: LibraryDeps, owner: KeyOwner, now: datetime) -> None:
    """Raises TooMany."""
    remaining = await deps.stores.hourly_limits.consume(
        owner.uid,
        "mcp-streams",
        hour=floor_to_hour(now),
        limit=MAX_STREAMS_PER_HOUR,
        consumer=deps.new_id(),
    )
    check_limit(remaining, limit=MAX_STREAMS_PER_HOUR, noun="streams", now=now)


def _build_response(exchange: Exchange, headers: dict[str, str], accepted: str) -> Response:
    if not exchange.answers:
        return Response(status_code=202, headers=headers)
    if EVENT_STREAM in accepted:
        frames = b"".join(_build_frame("message", to_json(answer)) for answer in exchange.answers)
        return Response(frames, media_type=EVENT_STREAM, headers=headers)
    content = list(exchange.answers) if exchange.is_batch else exchange.answers[0]
    return Response(to_json(content), media_type="application/json", headers=headers)


def _build_frame(event: str, data: bytes) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (event.encode(), data)


async def _send_pings(deps: LibraryDeps, ends_at: datetime) -> AsyncGenerator[bytes, None]:
    while deps.clock.now() < ends_at:
        yield HEARTBEAT
        await deps.clock.sleep(PING_PAUSE_S)


async def _stream_replies(
    deps: LibraryDeps, owner: KeyOwner, session_id: str, ends_at: datetime
) -> AsyncGenerator[bytes, None]:
    """Say where to post, then send what waits in the store; often at first and after an answer."""
    sessions = deps.stores.mcp_sessions
    try:
        yield _build_frame("endpoint", f"{MESSAGES_PATH}?session_id={session_id}".encode())
        last_sent_at = deps.clock.now()
        while (now := deps.clock.now()) < ends_at:
            for reply in await sessions.take_replies(owner.uid, session_id):
                yield _build_frame("message", reply.text.encode())
                last_sent_at = now
            is_lively = now - last_sent_at < LIVELY
            await deps.clock.sleep(LIVELY_POLL_S if is_lively else QUIET_POLL_S)
    finally:
        with anyio.CancelScope(shield=True):
            await sessions.end(owner.uid, session_id)


ROUTES = (post_messages, open_stream, post_to_stream, end_session, describe_server)
