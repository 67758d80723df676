"""Routes of notes: what follows an answer, for clients to ask for, and how to begin another chat."""

import hashlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Annotated, Any

from pydantic import Field
from starlette.responses import Response

from functions.chat.api.session_schemas import DEFAULT_TITLE, SessionOut, to_session_out
from functions.chat.api.ui_messages import HEARTBEAT
from functions.chat.deps import ChatDeps
from functions.chat.notes.build_notes import trim_title
from functions.chat.notes.read_notes import (
    ShownNotes,
    read_notes,
    suggest_chats,
    wait_for_notes,
)
from functions.chat.sessions.chat_sessions import get_session
from shared.domain.chats.chat_notes import ActionTool
from shared.domain.errors import NotFound
from shared.domain.ids import MemoryId, MessageId, RunId, SessionId
from shared.edge.declare.event_stream import EventStream
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire

RETRY_AFTER_S = 1


class KnownVersionHeaders(Wire):
    """The ETag of what the client has: unchanged, it is not sent again."""

    if_none_match: Annotated[str, Field(alias="If-None-Match", max_length=1_000)] = ""


class SuggestedActionOut(Wire):
    """A change that its owner may make by a route of its own.

    `remember`: POST /v3/memories with `arguments`; `update_memory`: PATCH /v3/memories/{entry_id} with
    the `content` as `value`; `delete_memory`: DELETE /v3/memories/{entry_id}; `change_profile`: PATCH
    /v1/users/profile with `arguments`, of `interests` together with those there are. `entry_text` is what
    the memory says now.
    """

    tool: ActionTool
    arguments: Mapping[str, Any]
    entry_id: str | None
    entry_text: str | None


class NotesOut(Wire):
    """What follows an answer: `follow_ups` are questions to go on with, `next_steps` those for code.

    `actions` are changes that the owner's words suggest, `new_categories` kinds of memories that would have
    helped, and `chat` is the chat as it is noted now.
    """

    message_id: str
    follow_ups: Sequence[str]
    next_steps: Sequence[str]
    actions: Sequence[SuggestedActionOut]
    new_categories: Sequence[str]
    chat: SessionOut


class FirstMessageIn(Wire):
    first_message: Annotated[str, Field(max_length=20_000)] = ""


class TitleOut(Wire):
    title: str


class ChatSuggestionsOut(Wire):
    """Questions to begin a chat with."""

    suggestions: Sequence[str]


@route(
    "GET",
    "/v2/messages/{id}/notes",
    "Read what follows an answer; 204 while it may still come, with Retry-After",
    headers=KnownVersionHeaders,
    other_statuses=(204, 304),
    errors=(404,),
)
async def get_notes(deps: ChatDeps, call: Call) -> NotesOut | Response:
    message_id = MessageId(call.path["id"])
    shown = await read_notes(deps, call.uid, message_id)
    if shown is None:
        return Response(status_code=204, headers={"Retry-After": str(RETRY_AFTER_S)})
    body = _to_out(message_id, shown).model_dump_json().encode()
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if tag in call.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


def _to_out(message_id: MessageId, shown: ShownNotes) -> NotesOut:
    notes = shown.notes
    return NotesOut(
        message_id=message_id,
        follow_ups=notes.follow_ups,
        next_steps=notes.next_steps,
        actions=[
            SuggestedActionOut(
                tool=action.tool,
                arguments=action.arguments,
                entry_id=action.entry_id,
                entry_text=_find_text(shown, action.entry_id),
            )
            for action in notes.actions
        ],
        new_categories=notes.new_categories,
        chat=to_session_out(shown.session),
    )


def _find_text(shown: ShownNotes, entry_id: MemoryId | None) -> str | None:
    return shown.memories[entry_id].said_to_owner if entry_id else None


@route(
    "GET",
    "/v2/messages/{id}/notes/events",
    "Wait for what follows an answer: one event, within half a minute or never",
    errors=(404, 429),
    media_type="text/event-stream",
)
async def stream_notes(deps: ChatDeps, call: Call) -> Response:
    """Raises NotFound, and QuotaExceeded for more followers than an answer or a day may have."""
    message_id = MessageId(call.path["id"])
    await deps.stores.messages.get(call.uid, message_id)
    await deps.quotas.take(call.uid, "followers", now=deps.clock.now())
    events = _encode(message_id, wait_for_notes(deps, call.uid, message_id))
    admitted = deps.active_runs.followers.admit(call.uid, RunId(message_id), events)
    return EventStream(admitted, heartbeat=HEARTBEAT)


async def _encode(
    message_id: MessageId, notes: AsyncGenerator[ShownNotes, None]
) -> AsyncGenerator[bytes, None]:
    """A chat that is deleted meanwhile ends the stream."""
    with suppress(NotFound):
        async with aclosing(notes):
            async for shown in notes:
                yield b"data: " + _to_out(message_id, shown).model_dump_json().encode() + b"\n\n"


@route(
    "POST",
    "/v2/chat-sessions/{id}/generate-title",
    "Read the title of a chat; until it is noted, the beginning of its first message",
    errors=(404,),
    max_bytes=131_072,
)
async def read_title(deps: ChatDeps, call: Call[FirstMessageIn]) -> TitleOut:
    """Nothing is stored: the first answer brings a title of its own."""
    session = await get_session(deps, call.uid, SessionId(call.path["id"]))
    return TitleOut(title=session.title or trim_title(call.body.first_message) or DEFAULT_TITLE)


@route("GET", "/v2/chat-suggestions", "List questions to begin a chat with, six at most")
async def list_chat_suggestions(deps: ChatDeps, call: Call) -> ChatSuggestionsOut:
    return ChatSuggestionsOut(suggestions=await suggest_chats(deps, call.uid))


ROUTES = (get_notes, stream_notes, read_title, list_chat_suggestions)
