"""Conversations over HTTP: handed in, read, edited, found, deleted."""

from dataclasses import replace
from typing import Any

from functions.process_conversation.library.checks import check
from functions.process_conversation.library.wire import (
    ConversationChange,
    Ok,
    StarredQuery,
    TitleQuery,
)
from functions.process_conversation.wire import (
    Accepted,
    ConversationIn,
    ConversationOut,
    ConversationPage,
    ConversationSummary,
    HitOut,
    Hits,
    PageQuery,
    PassageOut,
    SearchIn,
)
from functions.process_conversation.wiring import LibraryDeps
from functions.process_conversation.written import CHANGED
from shared.data.search import Filters
from shared.domain.conversation import Conversation, Speaker, content_hash
from shared.domain.ids import ConversationId, PersonId, UserId, is_id
from shared.edge.http import Call, Endpoint

MAX_BODY_BYTES = 8_388_608
"""Room for the longest transcript; what the parser builds takes 50 times as much at worst."""
MAX_PEOPLE = 100
"""So many people are looked up for one conversation: each is a read that costs."""


async def add_conversation(deps: LibraryDeps, call: Call[ConversationIn]) -> Accepted:
    conversation = call.body.conversation(deps.new_id())
    check(conversation, deps.clock.now())
    named = await _named_speakers(deps, call.uid, conversation)
    return Accepted.model_validate(await deps.conversations.add(call.uid, named))


async def list_conversations(deps: LibraryDeps, call: Call[None]) -> ConversationPage:
    query: PageQuery = call.query
    page = await deps.conversations.page(call.uid, limit=query.limit, after=query.cursor)
    return ConversationPage(
        conversations=[ConversationSummary.model_validate(c) for c in page.items],
        next_cursor=page.next,
    )


async def get_conversation(deps: LibraryDeps, call: Call[None]) -> ConversationOut:
    conversation = await deps.conversations.get(call.uid, _named(call))
    return ConversationOut.of(conversation)


async def edit_conversation(deps: LibraryDeps, call: Call[ConversationChange]) -> ConversationOut:
    written = call.body.model_dump(exclude_none=True, exclude={"starred"})
    if written:
        await deps.conversations.edit(call.uid, _named(call), **written)
    if call.body.starred is not None:
        await deps.conversations.star(call.uid, _named(call), starred=call.body.starred)
    return ConversationOut.of(await deps.conversations.get(call.uid, _named(call)))


async def entitle_conversation(deps: LibraryDeps, call: Call[None]) -> Ok:
    query: TitleQuery = call.query
    await deps.conversations.edit(call.uid, _named(call), title=query.title)
    return Ok()


async def star_conversation(deps: LibraryDeps, call: Call[None]) -> Ok:
    query: StarredQuery = call.query
    await deps.conversations.star(call.uid, _named(call), starred=query.starred)
    return Ok()


async def reprocess_conversation(deps: LibraryDeps, call: Call[None]) -> Accepted:
    """The document first: a message that is not sent is made up for by the next attempt."""
    conversation_id = _named(call)
    conversation = await deps.conversations.get(call.uid, conversation_id)
    await deps.conversations.reopen(call.uid, conversation_id)
    event = {
        "uid": call.uid,
        "conversation_id": conversation_id,
        "content_hash": content_hash(conversation),
    }
    await deps.events.publish(CHANGED, event)
    return Accepted(id=conversation_id, status="processing")


async def delete_conversation(deps: LibraryDeps, call: Call[None]) -> None:
    """The document goes at once, and with it every hit; the trigger removes what was derived."""
    await deps.conversations.delete(call.uid, _named(call))


async def search_conversations(deps: LibraryDeps, call: Call[SearchIn]) -> Hits:
    asked = call.body
    filters = Filters(
        start=asked.start_date,
        end=asked.end_date,
        people=asked.people,
        topics=asked.topics,
    )
    searched = await deps.search.narrowed(call.uid, asked.query, filters=filters, limit=asked.limit)
    return Hits(
        fallback_without_filters=searched.fallback_without_filters,
        hits=[
            HitOut(
                conversation_id=hit.conversation.id,
                score=hit.score,
                passages=[PassageOut.model_validate(passage) for passage in hit.passages],
            )
            for hit in searched.found
        ],
    )


async def _named_speakers(
    deps: LibraryDeps, uid: UserId, conversation: Conversation
) -> Conversation:
    """Name the speakers whom the recorder knows as people of the owner's."""
    said = conversation.transcript_segments
    known = {s.speaker: PersonId(s.person_id) for s in said if s.person_id and is_id(s.person_id)}
    names = await deps.people.named(uid, sorted(set(known.values()))[:MAX_PEOPLE])
    speakers = {
        label: Speaker(name=names[person_id], person_id=person_id)
        for label, person_id in known.items()
        if person_id in names
    }
    return replace(conversation, speakers=speakers, person_ids=tuple(sorted(names)))


def _named(call: Call[Any]) -> ConversationId:
    return ConversationId(call.path["conversation_id"])


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/v1/conversations",
        handler=add_conversation,
        summary="Hand in a recorded conversation; it is processed afterwards",
        body=ConversationIn,
        response=Accepted,
        status=202,
        max_bytes=MAX_BODY_BYTES,
        errors=(400, 401, 409, 413, 415, 422),
    ),
    Endpoint(
        method="GET",
        path="/v1/conversations",
        handler=list_conversations,
        summary="List conversations, newest first",
        query=PageQuery,
        response=ConversationPage,
        errors=(401, 422),
    ),
    Endpoint(
        method="POST",
        path="/v1/conversations/search",
        handler=search_conversations,
        summary="Find conversations by what was said in them, best first",
        body=SearchIn,
        response=Hits,
        errors=(400, 401, 413, 415, 422),
    ),
    Endpoint(
        method="GET",
        path="/v1/conversations/{conversation_id}",
        handler=get_conversation,
        summary="Read a conversation with its transcript",
        response=ConversationOut,
        errors=(401, 404),
    ),
    Endpoint(
        method="PATCH",
        path="/v1/conversations/{conversation_id}",
        handler=edit_conversation,
        summary="Write over what was made of a conversation",
        body=ConversationChange,
        response=ConversationOut,
        errors=(400, 401, 404, 413, 415, 422),
    ),
    Endpoint(
        method="PATCH",
        path="/v1/conversations/{conversation_id}/title",
        handler=entitle_conversation,
        summary="Give a conversation another title",
        query=TitleQuery,
        response=Ok,
        errors=(401, 404, 422),
    ),
    Endpoint(
        method="PATCH",
        path="/v1/conversations/{conversation_id}/starred",
        handler=star_conversation,
        summary="Star a conversation, or take the star back",
        query=StarredQuery,
        response=Ok,
        errors=(401, 404, 422),
    ),
    Endpoint(
        method="POST",
        path="/v1/conversations/{conversation_id}/reprocess",
        handler=reprocess_conversation,
        summary="Have the models read a conversation again",
        response=Accepted,
        status=202,
        errors=(401, 404),
    ),
    Endpoint(
        method="DELETE",
        path="/v1/conversations/{conversation_id}",
        handler=delete_conversation,
        summary="Delete a conversation and what was derived from it",
        status=204,
        errors=(401, 404),
    ),
)
