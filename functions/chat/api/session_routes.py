"""The part of the chat's route table that concerns several chats."""

from starlette.responses import Response

from functions.chat.api.schemas import (
    OkOut,
    SessionChangeIn,
    SessionIn,
    SessionOut,
    SessionsQuery,
    to_session_out,
)
from functions.chat.deps import ChatDeps
from functions.chat.turn import chat_sessions
from shared.data.codec import type_adapter
from shared.domain.ids import AppId, SessionId
from shared.edge.http import Call, Endpoint


async def create_session(deps: ChatDeps, call: Call[SessionIn]) -> SessionOut:
    body = call.body
    app_id = AppId(body.app_id) if body.app_id else None
    return to_session_out(await chat_sessions.create(deps, call.uid, body.title or "", app_id))


async def list_sessions(deps: ChatDeps, call: Call[None]) -> Response:
    """Answer with a plain array, as the app reads it; the cursor stands in a header."""
    query: SessionsQuery = call.query
    page = await deps.stores.sessions.list_page(
        call.uid,
        app_id=AppId(query.app_id) if query.app_id else None,
        starred=query.starred,
        limit=query.limit,
        after=query.cursor,
    )
    return Response(
        type_adapter(list[SessionOut]).dump_json(
            [to_session_out(session) for session in page.items]
        ),
        media_type="application/json",
        headers={"X-Next-Cursor": page.next} if page.next else None,
    )


async def get_session(deps: ChatDeps, call: Call[None]) -> SessionOut:
    return to_session_out(
        await chat_sessions.get_session(deps, call.uid, SessionId(call.path["id"]))
    )


async def change_session(deps: ChatDeps, call: Call[SessionChangeIn]) -> SessionOut:
    session_id = SessionId(call.path["id"])
    title, starred = call.body.title, call.body.starred
    return to_session_out(
        await chat_sessions.change(deps, call.uid, session_id, title=title, starred=starred)
    )


async def delete_session(deps: ChatDeps, call: Call[None]) -> OkOut:
    await chat_sessions.delete(deps, call.uid, SessionId(call.path["id"]))
    return OkOut()


SESSIONS = (
    Endpoint(
        method="POST",
        path="/v2/chat-sessions",
        handler=create_session,
        summary="Begin a chat of its own",
        body=SessionIn,
        response=SessionOut,
        errors=(404,),
    ),
    Endpoint(
        method="GET",
        path="/v2/chat-sessions",
        handler=list_sessions,
        summary="List chats, newest message first; X-Next-Cursor leads to the next page",
        query=SessionsQuery,
        response=list[SessionOut],
    ),
    Endpoint(
        method="GET",
        path="/v2/chat-sessions/{id}",
        handler=get_session,
        summary="Read a chat",
        response=SessionOut,
        errors=(404,),
    ),
    Endpoint(
        method="PATCH",
        path="/v2/chat-sessions/{id}",
        handler=change_session,
        summary="Rename or star a chat",
        body=SessionChangeIn,
        response=SessionOut,
        errors=(404,),
    ),
    Endpoint(
        method="DELETE",
        path="/v2/chat-sessions/{id}",
        handler=delete_session,
        summary="Delete a chat with its messages",
        response=OkOut,
        errors=(404,),
    ),
)
