"""Routes that delete a chat, or its messages."""

from functions.chat.api.chat_query import ChatQuery
from functions.chat.api.message_schemas import MessageOut, to_message_out
from functions.chat.deps import ChatDeps
from functions.chat.sessions.delete_chat import clear_chat, delete_chat
from shared.domain.ids import SessionId
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, route


@route("DELETE", "/v2/messages", "Clear a chat", errors=(404,))
async def clear_messages(deps: ChatDeps, call: Call[None, ChatQuery]) -> MessageOut:
    query = call.query
    return to_message_out(
        await clear_chat(deps, call.uid, query.app, query.session, client_language=call.language)
    )


@route("DELETE", "/v2/chat-sessions/{id}", "Delete a chat with its messages", errors=(404,))
async def delete_session(deps: ChatDeps, call: Call) -> OkOut:
    await delete_chat(deps, call.uid, SessionId(call.path["id"]))
    return OkOut()


ROUTES = (
    clear_messages,
    clear_messages.at("/v1/messages"),  # as released apps call it
    delete_session,
)
