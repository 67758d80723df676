"""Conversations in the developer API; what a script hands in is counted and processed like any other."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from functions.library.conversations import conversations
from functions.library.programs.developer_api.developer_schemas import (
    DEFAULT_LENGTH,
    ConversationCreatedOut,
    DeveloperConversationChangeIn,
    DeveloperConversationOut,
    DeveloperConversationsQuery,
    DeveloperSegmentsIn,
    DeveloperTextIn,
    SuccessOut,
    TranscribedConversationOut,
    TranscriptQuery,
)
from functions.library.programs.key_access import KeyOwner, authorize_developer_key
from functions.library.programs.listings import list_conversations
from functions.library.programs.route_calls import call_route
from shared.domain.errors import Conflict
from shared.domain.ids import ConversationId, FolderId
from shared.edge.declare.pagination import build_array_response
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.library.deps import LibraryDeps

PATH = "/v1/dev/user/conversations"
MAX_BODY_BYTES = 2_097_152
"""Room for the longest text with every character escaped."""


@route(
    "GET",
    PATH,
    "List completed conversations, newest first, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("conversations:read"),
    errors=(401, 403, 422, 429),
)
async def list_owner_conversations(
    deps: LibraryDeps, call: Call[None, DeveloperConversationsQuery, KeyOwner]
) -> list[TranscribedConversationOut] | list[DeveloperConversationOut] | Response:
    uid, query = call.caller.uid, call.query
    folders = await deps.stores.folders.load(uid)
    page = await list_conversations(
        deps,
        uid,
        query.to_filter(),
        with_transcripts=query.include_transcript,
        starred=query.starred,
        folder_ids=folders.list_contributing(FolderId(query.folder_id))
        if query.folder_id
        else None,
    )
    kind = TranscribedConversationOut if query.include_transcript else DeveloperConversationOut
    shown = [kind.of(conversation, folders) for conversation in page.items]
    return build_array_response(shown, kind, has_more=page.has_more, total=page.total)


@route(
    "GET",
    f"{PATH}/{{conversation_id}}",
    "Read a conversation, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("conversations:read"),
    errors=(401, 403, 404, 422, 429),
)
async def get_conversation(
    deps: LibraryDeps, call: Call[None, TranscriptQuery, KeyOwner]
) -> TranscribedConversationOut | DeveloperConversationOut:
    uid, conversation_id = call.caller.uid, ConversationId(call.path["conversation_id"])
    conversation = await deps.stores.conversations.get(uid, conversation_id)
    folders = await deps.stores.folders.load(uid)
    if call.query.include_transcript:
        return TranscribedConversationOut.of(conversation, folders)
    return DeveloperConversationOut.of(conversation, folders)


@route(
    "POST",
    PATH,
    "Hand in a text as a conversation, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("conversations:write"),
    errors=(401, 403, 429),
    max_bytes=MAX_BODY_BYTES,
)
async def add_text(
    deps: LibraryDeps, call: CreatingCall[DeveloperTextIn, None, KeyOwner]
) -> ConversationCreatedOut:
    """Make each line a piece of speech of one speaker: the owner in an `audio_transcript`, else anybody."""
    body = call.body
    lines = filter(None, map(str.strip, body.text.splitlines()))
    fields = {
        **body.build_times(call.operation.begun_at, DEFAULT_LENGTH),
        "source": "external_integration",
        "transcript_segments": [{"text": line} for line in lines],
        "external_data": {
            "text_source": body.text_source,
            "text_source_spec": body.text_source_spec,
        },
    }
    return await _add(deps, call, fields)


@route(
    "POST",
    f"{PATH}/from-segments",
    "Hand in a transcript as a conversation, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("conversations:write"),
    errors=(401, 403, 429),
    max_bytes=MAX_BODY_BYTES,
)
async def add_segments(
    deps: LibraryDeps, call: CreatingCall[DeveloperSegmentsIn, None, KeyOwner]
) -> ConversationCreatedOut:
    body = call.body
    fields = {
        **body.build_times(call.operation.begun_at, body.length),
        "id": body.id,
        "source": body.source,
        "transcript_segments": [segment.to_fields() for segment in body.transcript_segments],
    }
    try:
        return await _add(deps, call, fields)
    except Conflict:
        if body.id is None:
            raise
    stored = await deps.stores.conversations.get_stored(call.caller.uid, ConversationId(body.id))
    return ConversationCreatedOut.model_validate(stored)


@route(
    "PATCH",
    f"{PATH}/{{conversation_id}}",
    "Give a conversation another title, discard it or take it back, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("conversations:write"),
    errors=(401, 403, 404, 429),
)
async def change_conversation(
    deps: LibraryDeps, call: Call[DeveloperConversationChangeIn, None, KeyOwner]
) -> SuccessOut:
    conversation_id = ConversationId(call.path["conversation_id"])
    store, uid, body = deps.stores.conversations, call.caller.uid, call.body
    if body.title is not None:
        await store.edit(uid, conversation_id, title=body.title)
    if body.discarded is not None:
        now = deps.clock.now()
        await store.discard(uid, conversation_id, discarded=body.discarded, now=now)
    return SuccessOut()


@route(
    "DELETE",
    f"{PATH}/{{conversation_id}}",
    "Delete a conversation and what was derived from it, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("conversations:write"),
    errors=(401, 403, 404, 429),
)
async def delete_conversation(deps: LibraryDeps, call: Call[None, None, KeyOwner]) -> SuccessOut:
    uid, delete_route = call.caller.uid, conversations.delete_conversation
    await call_route(deps, uid, delete_route, path=call.path, query={"cascade": True})
    return SuccessOut()


async def _add(
    deps: LibraryDeps,
    call: CreatingCall[DeveloperTextIn | DeveloperSegmentsIn, None, KeyOwner],
    fields: Mapping[str, Any],
) -> ConversationCreatedOut:
    place = call.body.geolocation
    body = {
        **fields,
        "language": call.body.language,
        "geolocation": place.model_dump() if place else None,
    }
    uid, add_route = call.caller.uid, conversations.add_conversation
    accepted = await call_route(deps, uid, add_route, body=body, operation=call.operation)
    return ConversationCreatedOut(id=accepted.id, status=accepted.status)


ROUTES = (
    list_owner_conversations,
    get_conversation,
    add_text,
    add_segments,
    change_conversation,
    delete_conversation,
)
