"""Routes of chat sessions: create, list, read and change chats."""

import hashlib

from pydantic_core import to_json
from starlette.responses import Response

from functions.chat.api.chat_query import RepeatHeaders
from functions.chat.api.session_schemas import (
    ChatFeedbackIn,
    SessionChangeIn,
    SessionIn,
    SessionOut,
    SessionsQuery,
    to_session_out,
)
from functions.chat.deps import OpeningDeps
from functions.chat.sessions import chat_messages, chat_sessions
from shared.domain.ids import AppId, ProjectId, SessionId
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.pagination import build_array_response
from shared.edge.declare.routes import Call, route


@route("POST", "/v2/chat-sessions", "Begin a chat of its own", headers=RepeatHeaders, errors=(404,))
async def create_session(deps: OpeningDeps, call: Call[SessionIn]) -> SessionOut:
    """A repeat under an Idempotency-Key finds the chat by its name: of an incognito one no answer may be stored."""
    body = call.body
    app_id = AppId(body.app_id) if body.app_id else None
    return to_session_out(
        await chat_sessions.create(
            deps,
            call.uid,
            body.title or "",
            app_id,
            agent_id=body.agent_id,
            project_id=body.project_id,
            storage_mode=body.storage_mode,
            name=_name_by_key(call),
        )
    )


def _name_by_key(call: Call[SessionIn]) -> str | None:
    """Return the name that all repeats of a request give to its chat; None without a key."""
    key = call.headers.get("idempotency-key")
    request = to_json([call.uid, key, call.body.model_dump()])
    return hashlib.sha256(request).hexdigest()[:32] if key else None


@route(
    "GET",
    "/v2/chat-sessions",
    "List chats, newest message first; X-Next-Cursor leads to the next page",
)
async def list_sessions(
    deps: OpeningDeps, call: Call[None, SessionsQuery]
) -> list[SessionOut] | Response:
    query = call.query
    page = await deps.stores.sessions.list_page(
        call.uid,
        app_id=AppId(query.app_id) if query.app_id else None,
        starred=query.starred,
        project_id=ProjectId(query.project_id) if query.project_id else None,
        limit=query.limit,
        after=query.cursor,
    )
    sessions = [to_session_out(session) for session in page.items]
    return build_array_response(sessions, SessionOut, page.next)


@route("GET", "/v2/chat-sessions/{id}", "Read a chat", errors=(404,))
async def get_session(deps: OpeningDeps, call: Call) -> SessionOut:
    return to_session_out(
        await chat_sessions.get_session(deps, call.uid, SessionId(call.path["id"]))
    )


@route(
    "PATCH",
    "/v2/chat-sessions/{id}",
    "Rename or star a chat, or change its agent or project",
    errors=(404,),
)
async def change_session(deps: OpeningDeps, call: Call[SessionChangeIn]) -> SessionOut:
    session_id = SessionId(call.path["id"])
    body = call.body
    session = await chat_sessions.change(
        deps,
        call.uid,
        session_id,
        title=body.title,
        starred=body.starred,
        agent_id=body.agent_id,
        project_id=body.project_id,
    )
    return to_session_out(session)


@route(
    "POST",
    "/v2/chat-sessions/{id}/feedback",
    "Say how a chat went, without a word of it",
    errors=(404,),
)
async def rate_session(deps: OpeningDeps, call: Call[ChatFeedbackIn]) -> OkOut:
    session_id = SessionId(call.path["id"])
    await chat_messages.rate_chat(deps, call.uid, session_id, call.body.rating)
    return OkOut()


ROUTES = (
    rate_session,
    create_session,
    list_sessions,
    get_session,
    change_session,
)
