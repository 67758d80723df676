"""Conversation list route, and the routes that create, read, edit, search and delete one."""

from dataclasses import replace
from typing import Any

from anyio import to_thread

from functions.process_conversation.deps import LibraryDeps
from functions.process_conversation.library.conversation_schemas import (
    AcceptedOut,
    ConversationHitsOut,
    ConversationIn,
    ConversationOut,
    ConversationPageOut,
    ConversationPageQuery,
    ConversationSearchIn,
    ConversationSummaryOut,
    HitOut,
    PassageOut,
)
from functions.process_conversation.library.ingestion import ingest
from functions.process_conversation.library.schemas import (
    ConversationChangeIn,
    StarredQuery,
    TitleIn,
)
from functions.process_conversation.library.validation import validate_conversation
from functions.process_conversation.processing.trigger import CONVERSATION_CHANGED_TOPIC
from shared.data.conversations import MAX_SEGMENTS_ON_THE_LOOP
from shared.data.search import Filters
from shared.domain.conversation import Conversation, Speaker, content_hash
from shared.domain.errors import Conflict
from shared.domain.ids import ConversationId, PersonId, UserId, is_id
from shared.edge.routes import Call, route
from shared.edge.schemas import OkOut

MAX_BODY_BYTES = 8_388_608
"""Room for the longest transcript; parsed, it takes up to 50 times as much memory."""
MAX_PEOPLE_LOOKUPS = 100
"""People looked up for one conversation: each is a read that costs."""


@route(
    "POST",
    "/v1/conversations",
    "Hand in a recorded conversation; it is processed afterwards",
    status=202,
    errors=(400, 401, 409, 413, 415, 422),
    max_bytes=MAX_BODY_BYTES,
)
async def add_conversation(deps: LibraryDeps, call: Call[ConversationIn]) -> AcceptedOut:
    conversation = call.body.to_conversation(deps.new_id())
    validate_conversation(conversation, deps.clock.now())
    named_conversation = await _resolve_speakers(deps, call.uid, conversation)
    return AcceptedOut.model_validate(await ingest(deps, call.uid, named_conversation))


@route("GET", "/v1/conversations", "List conversations, newest first", errors=(401, 422))
async def list_conversations(
    deps: LibraryDeps, call: Call[None, ConversationPageQuery]
) -> ConversationPageOut:
    query = call.query
    page = await deps.stores.conversations.list_page(
        call.uid, limit=query.limit, after=query.cursor
    )
    return ConversationPageOut(
        conversations=[ConversationSummaryOut.model_validate(c) for c in page.items],
        next_cursor=page.next,
    )


@route(
    "GET",
    "/v1/conversations/{conversation_id}",
    "Read a conversation with its transcript",
    errors=(401, 404),
)
async def get_conversation(deps: LibraryDeps, call: Call) -> ConversationOut:
    return await _load_whole(deps, call)


@route(
    "PATCH",
    "/v1/conversations/{conversation_id}",
    "Write over what was made of a conversation",
    errors=(400, 401, 404, 413, 415, 422),
    max_bytes=65_536,
)
async def edit_conversation(deps: LibraryDeps, call: Call[ConversationChangeIn]) -> ConversationOut:
    edits = call.body.model_dump(exclude_none=True, exclude={"starred"})
    if edits:
        await deps.stores.conversations.edit(call.uid, _path_id(call), **edits)
    if call.body.starred is not None:
        await deps.stores.conversations.star(call.uid, _path_id(call), starred=call.body.starred)
    return await _load_whole(deps, call)


async def _load_whole(deps: LibraryDeps, call: Call[Any]) -> ConversationOut:
    conversation = await deps.stores.conversations.get(call.uid, _path_id(call))
    if len(conversation.transcript_segments) > MAX_SEGMENTS_ON_THE_LOOP:
        return await to_thread.run_sync(ConversationOut.of, conversation)
    return ConversationOut.of(conversation)


@route(
    "PATCH",
    "/v1/conversations/{conversation_id}/title",
    "Give a conversation another title",
    errors=(401, 404, 422),
    is_query_accepted=True,
)
async def rename_conversation(deps: LibraryDeps, call: Call[TitleIn]) -> OkOut:
    await deps.stores.conversations.edit(call.uid, _path_id(call), title=call.body.title)
    return OkOut()


@route(
    "PATCH",
    "/v1/conversations/{conversation_id}/starred",
    "Star a conversation, or take the star back",
    errors=(401, 404, 422),
)
async def star_conversation(deps: LibraryDeps, call: Call[None, StarredQuery]) -> OkOut:
    await deps.stores.conversations.star(call.uid, _path_id(call), starred=call.query.starred)
    return OkOut()


@route(
    "POST",
    "/v1/conversations/{conversation_id}/reprocess",
    "Have the models read a conversation again",
    status=202,
    errors=(401, 404, 409),
)
async def reprocess_conversation(deps: LibraryDeps, call: Call) -> AcceptedOut:
    """Reopen the document first: the next attempt sends a message that was not sent."""
    conversation_id = _path_id(call)
    conversation = await deps.stores.conversations.get(call.uid, conversation_id)
    if conversation.has_deleted_transcript:
        raise Conflict("The transcript of this conversation was deleted.")
    await deps.stores.conversations.reopen(call.uid, conversation_id)
    event = {
        "uid": call.uid,
        "conversation_id": conversation_id,
        "content_hash": content_hash(conversation),
    }
    await deps.events.publish(CONVERSATION_CHANGED_TOPIC, event)
    return AcceptedOut(id=conversation_id, status="processing")


@route(
    "DELETE",
    "/v1/conversations/{conversation_id}",
    "Delete a conversation and what was derived from it",
    status=204,
    errors=(401, 404),
)
async def delete_conversation(deps: LibraryDeps, call: Call) -> None:
    """Delete the document, and so every search hit, at once; the trigger removes what was derived."""
    text_bytes = await deps.stores.conversations.delete(call.uid, _path_id(call))
    await deps.quotas.give_back(call.uid, "stored_bytes", text_bytes, now=deps.clock.now())


@route(
    "POST",
    "/v1/conversations/search",
    "Find conversations by what was said in them, best first",
    errors=(400, 401, 413, 415, 422),
    max_bytes=32_768,
)
async def search_conversations(
    deps: LibraryDeps, call: Call[ConversationSearchIn]
) -> ConversationHitsOut:
    body = call.body
    filters = Filters(
        start=body.start_date, end=body.end_date, people=body.people, topics=body.topics
    )
    result = await deps.search.search_with_fallback(
        call.uid, body.query, filters=filters, limit=body.limit
    )
    return ConversationHitsOut(
        fallback_without_filters=result.fallback_without_filters,
        hits=[
            HitOut(
                conversation_id=hit.conversation.id,
                score=hit.score,
                passages=[PassageOut.model_validate(passage) for passage in hit.passages],
            )
            for hit in result.conversations
        ],
    )


async def _resolve_speakers(
    deps: LibraryDeps, uid: UserId, conversation: Conversation
) -> Conversation:
    """Name the speakers that the recorder identified as people of the owner."""
    segments = conversation.transcript_segments
    person_ids = {
        s.speaker: PersonId(s.person_id) for s in segments if s.person_id and is_id(s.person_id)
    }
    names = await deps.stores.people.load_names(
        uid, sorted(set(person_ids.values()))[:MAX_PEOPLE_LOOKUPS]
    )
    speakers = {
        label: Speaker(name=names[person_id], person_id=person_id)
        for label, person_id in person_ids.items()
        if person_id in names
    }
    return replace(conversation, speakers=speakers, person_ids=tuple(sorted(names)))


def _path_id(call: Call[Any, Any]) -> ConversationId:
    return ConversationId(call.path["conversation_id"])


ROUTES = (
    add_conversation,
    list_conversations,
    search_conversations,
    get_conversation,
    edit_conversation,
    rename_conversation,
    star_conversation,
    reprocess_conversation,
    delete_conversation,
)
