"""Routes of embeds: what tools returned for the answers of a chat, and what a client brings back of it."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field
from starlette.responses import Response

from functions.chat.deps import ChatDeps
from functions.chat.sessions.chat_sessions import get_session
from functions.chat.turn.resent_embeds import ResentEmbed, keep_resent
from shared.domain.apps.tool_data import EmbedType
from shared.domain.chats.embed import MAX_CONTENT_CHARS, Embed, EmbedStatus, list_ids, parse_content
from shared.domain.ids import EmbedId, MessageId, SessionId
from shared.edge.declare.common_schemas import PageQuery
from shared.edge.declare.pagination import build_array_response
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire

MAX_EMBED_BYTES = 4 * MAX_CONTENT_CHARS


class EmbedsQuery(PageQuery):
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class EmbedSourceOut(Wire):
    """Who returned it."""

    kind: Literal["library", "app", "service"]
    id: str
    name: str


class EmbedOut(Wire):
    """What a tool returned. `content` is text or JSON; `preview` its beginning, in one line.

    `content_hash` is SHA-256 of the content as JSON without spaces, `length` the characters of that.
    `embed_ids` are the children, null where it has none. A parent's content names the `tool`, its `input`,
    the rest of the `result`, and the field of it that was the `list` of the children.
    """

    id: str
    type: EmbedType
    status: EmbedStatus
    content: Any
    preview: str
    content_hash: str
    length: int
    version: int
    embed_ids: Sequence[str] | None
    parent_id: str | None
    chat_session_ids: Sequence[str]
    message_id: str
    source: EmbedSourceOut
    created_at: datetime


class EmbedIn(Wire):
    """A client's copy of an embed that the answer `message_id` refers to; `content` is JSON text."""

    message_id: Annotated[str, Field(min_length=1, max_length=64)]
    type: EmbedType
    content: Annotated[str, Field(max_length=MAX_CONTENT_CHARS)]
    version: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    status: EmbedStatus = "finished"


class EmbedKeptOut(Wire):
    """`same`: this version was here already, or a client's copy of it. `newer`: it is kept now."""

    status: Literal["same", "newer"]


@route("GET", "/v2/embeds/{id}", "Show what a tool returned, and its children", errors=(404,))
async def show_embed(deps: ChatDeps, call: Call) -> list[EmbedOut]:
    """The embed itself comes first."""
    embed = await deps.stores.embeds.get(call.uid, call.path["id"])
    children = await deps.stores.embeds.find_all(call.uid, embed.embed_ids or ())
    return list(map(_to_out, [embed, *children]))


@route(
    "GET", "/v2/messages/{id}/embeds", "List what the tools of an answer returned", errors=(404,)
)
async def list_of_message(deps: ChatDeps, call: Call) -> list[EmbedOut]:
    """Each parent comes before its children; what is not here any more is left out."""
    message = await deps.stores.messages.get(call.uid, MessageId(call.path["id"]))
    embeds = await deps.stores.embeds.find_all(call.uid, list_ids(message.embeds))
    return list(map(_to_out, embeds))


@route(
    "GET",
    "/v2/chat-sessions/{id}/embeds",
    "List what tools returned in a chat, newest first; X-Next-Cursor leads to the next page",
    errors=(404,),
)
async def list_of_chat(deps: ChatDeps, call: Call[None, EmbedsQuery]) -> list[EmbedOut] | Response:
    session = await get_session(deps, call.uid, SessionId(call.path["id"]))
    page = await deps.stores.embeds.list_of_session(
        call.uid, session.id, limit=call.query.limit, after=call.query.cursor
    )
    return build_array_response(list(map(_to_out, page.items)), EmbedOut, page.next)


@route(
    "PUT",
    "/v2/embeds/{id}",
    "Send an embed again that is not here any more, or a newer version of it",
    errors=(404, 409),
    max_bytes=MAX_EMBED_BYTES,
)
async def put_embed(deps: ChatDeps, call: Call[EmbedIn]) -> EmbedKeptOut:
    body = call.body
    resent = ResentEmbed(
        id=EmbedId(call.path["id"]),
        message_id=MessageId(body.message_id),
        type=body.type,
        content=body.content,
        version=body.version,
        status=body.status,
    )
    return EmbedKeptOut(status=await keep_resent(deps, call.uid, resent))


def _to_out(embed: Embed) -> EmbedOut:
    return EmbedOut(
        id=embed.id,
        type=embed.type,
        status=embed.status,
        content=parse_content(embed.content),
        preview=embed.preview,
        content_hash=embed.content_hash,
        length=embed.length,
        version=embed.version,
        embed_ids=embed.embed_ids,
        parent_id=embed.parent_id,
        chat_session_ids=embed.session_ids,
        message_id=embed.message_id,
        source=EmbedSourceOut(**asdict(embed.source)),
        created_at=embed.created_at,
    )


ROUTES = (show_embed, list_of_message, list_of_chat, put_embed)
