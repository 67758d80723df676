"""Routes of messages: list a chat, begin it, rate and report answers."""

from typing import Annotated, Literal

from pydantic import Field
from starlette.responses import Response

from functions.chat.api.chat_query import ChatQuery
from functions.chat.api.message_schemas import MessageOut, to_message_out, to_shown_messages_out
from functions.chat.api.ui_parts import add_parts
from functions.chat.deps import OpeningDeps
from functions.chat.sessions import chat_messages
from shared.domain.errors import Invalid
from shared.domain.ids import MessageId
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.problems import build_problem
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire


class MessagesQuery(ChatQuery):
    """`before` is the id of the oldest message that the client has.

    With `protocol`, `metadata.parts` has what was streamed of an answer, and `metadata.summarised`
    marks messages that the assistant reads as a summary.
    """

    before: Annotated[str | None, Field(max_length=64)] = None
    protocol: Literal["ui-message-stream"] | None = None


class ReportOut(Wire):
    message: str = "Message reported"


class RatingQuery(Wire):
    """`value` is 1 or -1; 0 removes the rating."""

    message_id: str
    value: Annotated[int, Field(ge=-1, le=1)]
    reason: Annotated[str | None, Field(max_length=200)] = None


@route(
    "GET", "/v2/messages", "List a chat's messages, newest first, a hundred at most", errors=(404,)
)
async def list_messages(deps: OpeningDeps, call: Call[None, MessagesQuery]) -> list[MessageOut]:
    query = call.query
    if query.before is not None:
        before_id = MessageId(query.before)
        shown = await chat_messages.list_before(deps, call.uid, query.session_id, before_id)
    else:
        shown = await chat_messages.list_newest(
            deps, call.uid, query.app, query.session, client_language=call.language
        )
    listed = to_shown_messages_out(shown.session, shown.messages)
    return listed if query.protocol is None else add_parts(listed, shown.session, shown.messages)


@route("POST", "/v2/initial-message", "Begin a chat", errors=(404,))
async def ensure_initial_message(deps: OpeningDeps, call: Call[None, ChatQuery]) -> MessageOut:
    return to_message_out(
        await chat_messages.ensure_greeting(
            deps, call.uid, call.query.app, call.query.session, client_language=call.language
        )
    )


@route("POST", "/v2/messages/{id}/report", "Report an answer", errors=(400, 404))
async def report_message(deps: OpeningDeps, call: Call) -> ReportOut | Response:
    try:
        await chat_messages.report(deps, call.uid, MessageId(call.path["id"]))
    except Invalid as refusal:
        return build_problem(400, str(refusal))
    return ReportOut()


@route("POST", "/v1/users/analytics/chat_message", "Rate an answer", errors=(404,))
async def rate_message(deps: OpeningDeps, call: Call[None, RatingQuery]) -> OkOut:
    query = call.query
    await chat_messages.rate(deps, call.uid, MessageId(query.message_id), query.value, query.reason)
    return OkOut()


ROUTES = (
    list_messages,
    ensure_initial_message,
    report_message,
    ensure_initial_message.at("/v1/initial-message"),
    report_message.at("/v1/messages/{id}/report"),
    rate_message,
)
"""Released apps call some of them under both versions."""
