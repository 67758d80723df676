"""The routes of the library and of processing, and their handlers: parse, one call, answer."""

from pydantic import ValidationError

from functions.process_conversation.library import check
from functions.process_conversation.process import process
from functions.process_conversation.wire import (
    Accepted,
    ActionItemList,
    ActionItemOut,
    ChangedMessage,
    ConversationIn,
    ConversationOut,
    ConversationPage,
    ConversationSummary,
    HitOut,
    Hits,
    ListQuery,
    MemoryOut,
    PageQuery,
    PassageOut,
    SearchIn,
)
from functions.process_conversation.wiring import LibraryDeps, ProcessDeps, TriggerDeps
from functions.process_conversation.written import announce_change
from shared.domain.errors import Invalid
from shared.domain.ids import ConversationId, UserId
from shared.domain.memory import Memory
from shared.edge.cloudevents import MAX_EVENT_BYTES, document_change, pubsub_event
from shared.edge.http import Call, Endpoint

MAX_BODY_BYTES = 8_388_608
"""Room for the longest transcript; what the parser builds takes 50 times as much at worst."""


async def add_conversation(deps: LibraryDeps, call: Call[ConversationIn]) -> Accepted:
    conversation = call.body.conversation(deps.new_id())
    check(conversation, deps.clock.now())
    return Accepted.model_validate(await deps.conversations.add(call.uid, conversation))


async def list_conversations(deps: LibraryDeps, call: Call[None]) -> ConversationPage:
    query: PageQuery = call.query
    page = await deps.conversations.page(call.uid, limit=query.limit, after=query.cursor)
    return ConversationPage(
        conversations=[ConversationSummary.model_validate(c) for c in page.items],
        next_cursor=page.next,
    )


async def get_conversation(deps: LibraryDeps, call: Call[None]) -> ConversationOut:
    conversation = await deps.conversations.get(call.uid, _named(call))
    return ConversationOut.model_validate(conversation)


async def delete_conversation(deps: LibraryDeps, call: Call[None]) -> None:
    """The document goes at once, and with it every hit; the trigger removes what was derived."""
    await deps.conversations.delete(call.uid, _named(call))


async def search_conversations(deps: LibraryDeps, call: Call[SearchIn]) -> Hits:
    asked = call.body
    found = await deps.search.conversations(
        call.uid, asked.query, start=asked.start_date, end=asked.end_date, limit=asked.limit
    )
    return Hits(
        hits=[
            HitOut(
                conversation_id=hit.conversation.id,
                score=hit.score,
                passages=[PassageOut.model_validate(passage) for passage in hit.passages],
            )
            for hit in found
        ]
    )


async def list_memories(deps: LibraryDeps, call: Call[None]) -> list[MemoryOut]:
    query: ListQuery = call.query
    found = await deps.memories.newest(call.uid, limit=query.limit, offset=query.offset)
    return [_memory(call.uid, memory) for memory in found]


async def list_action_items(deps: LibraryDeps, call: Call[None]) -> ActionItemList:
    query: ListQuery = call.query
    found = await deps.action_items.newest(call.uid, limit=query.limit + 1, offset=query.offset)
    items = [ActionItemOut.model_validate(item) for item in found[: query.limit]]
    return ActionItemList(action_items=items, has_more=len(found) > query.limit)


async def on_written(deps: TriggerDeps, call: Call[bytes]) -> None:
    change = document_change(call.headers, call.body)
    await announce_change(deps, change.path, old=change.old, new=change.new)


async def on_changed(deps: ProcessDeps, call: Call[bytes]) -> None:
    message = _message(call)
    await process(
        deps,
        UserId(message.uid),
        ConversationId(message.conversation_id),
        chunk_count=message.chunk_count,
    )


def _named(call: Call[None]) -> ConversationId:
    return ConversationId(call.path["conversation_id"])


def _memory(uid: UserId, memory: Memory) -> MemoryOut:
    """The old app knows a conversation by the name of `memory_id`, too."""
    return MemoryOut(
        id=memory.id,
        uid=uid,
        content=memory.content,
        category=memory.category,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        conversation_id=memory.conversation_id,
        memory_id=memory.conversation_id,
        visibility=memory.visibility,
        manually_added=memory.manually_added,
        edited=memory.edited,
    )


def _message(call: Call[bytes]) -> ChangedMessage:
    try:
        return ChangedMessage.model_validate(pubsub_event(call.headers, call.body))
    except ValidationError as error:
        raise Invalid("The message does not name a conversation") from error


LIBRARY = (
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
        method="DELETE",
        path="/v1/conversations/{conversation_id}",
        handler=delete_conversation,
        summary="Delete a conversation and what was derived from it",
        status=204,
        errors=(401, 404),
    ),
    Endpoint(
        method="GET",
        path="/v3/memories",
        handler=list_memories,
        summary="List memories, newest first",
        query=ListQuery,
        response=list[MemoryOut],
        errors=(401, 422),
    ),
    Endpoint(
        method="GET",
        path="/v1/action-items",
        handler=list_action_items,
        summary="List action items, newest first",
        query=ListQuery,
        response=ActionItemList,
        errors=(401, 422),
    ),
)

TRIGGER = (
    Endpoint(
        method="POST",
        path="/",
        handler=on_written,
        summary="A conversation was created, changed or deleted",
        access="service",
        body=bytes,
        status=204,
        max_bytes=MAX_EVENT_BYTES,
    ),
)

PROCESS = (
    Endpoint(
        method="POST",
        path="/",
        handler=on_changed,
        summary="A conversation's content changed",
        access="service",
        body=bytes,
        status=204,
    ),
)
