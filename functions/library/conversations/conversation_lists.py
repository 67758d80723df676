"""Conversation list route, and search over conversations: both by page.

Also called: filtering, sorting.
"""

import math
from datetime import timedelta

from starlette.responses import Response

from functions.library.conversations.list_schemas import (
    ConversationHitsOut,
    ConversationListQuery,
    ConversationSearchIn,
    HitOut,
)
from functions.library.conversations.snippets import collect_terms
from shared.data.conversations.conversation_key import ConversationFilter
from shared.data.conversations.long_transcripts import run_beside_the_loop
from shared.domain.errors import Invalid
from shared.domain.ids import FolderId, UserId
from shared.edge.declare.pagination import build_array_response
from shared.edge.declare.routes import Call, route
from shared.library.conversation_schemas import ConversationOut
from shared.library.deps import LibraryDeps
from shared.library.live_conversations import load_live


@route(
    "GET",
    "/v1/conversations",
    "List conversations, newest first; X-Next-Cursor leads to the next page",
    errors=(401, 422),
)
async def list_conversations(
    deps: LibraryDeps, call: Call[None, ConversationListQuery]
) -> list[ConversationOut] | Response:
    query, folder_ids = call.query, None
    if query.asks_for_live:
        live = await load_live(deps.stores, call.uid)
        return [*map(ConversationOut.of, live[query.offset :][: query.limit])]
    if query.folder_id:
        folders = await deps.stores.folders.load(call.uid)
        folder_ids = folders.list_contributing(FolderId(query.folder_id))
    page = await deps.stores.conversation_lists.list_page(
        call.uid,
        query.to_filter(folder_ids),
        limit=query.limit,
        offset=query.offset,
        after=query.cursor,
        with_transcripts=query.include_transcript,
        now=deps.clock.now(),
    )
    return await run_beside_the_loop(
        page.items,
        lambda: build_array_response(
            list(map(ConversationOut.of, page.items)), ConversationOut, page.next
        ),
    )


@route(
    "POST",
    "/v1/conversations/search",
    "Find conversations by what was said in them, best first; without a query, list them",
    errors=(400, 401, 413, 415, 422),
    max_bytes=32_768,
)
async def search_conversations(
    deps: LibraryDeps, call: Call[ConversationSearchIn]
) -> ConversationHitsOut:
    if call.body.query.strip():
        return await _search(deps, call.uid, call.body)
    return await _list_all(deps, call.uid, call.body)


async def _search(
    deps: LibraryDeps, uid: UserId, body: ConversationSearchIn
) -> ConversationHitsOut:
    result = await deps.search.search_page(
        uid,
        body.query,
        filters=body.to_filters(),
        offset=(body.page - 1) * body.per_page,
        limit=body.per_page,
        now=deps.clock.now(),
    )
    hits, terms, with_texts = (
        result.conversations,
        collect_terms(body.query),
        body.include_transcript,
    )
    conversations = [hit.conversation for hit in hits]
    if with_texts:
        conversations = await deps.stores.conversations.load_photos(uid, conversations)
    return ConversationHitsOut(
        items=await run_beside_the_loop(
            conversations,
            lambda: [
                HitOut.of_hit(hit, conversation, terms=terms, with_texts=with_texts)
                for hit, conversation in zip(hits, conversations, strict=True)
            ],
        ),
        current_page=body.page,
        total_pages=math.ceil(result.total / body.per_page),
        fallback_without_filters=result.fallback_without_filters,
    )


async def _list_all(
    deps: LibraryDeps, uid: UserId, body: ConversationSearchIn
) -> ConversationHitsOut:
    """Raises Invalid for filters that need words to search for."""
    if body.people or body.topics:
        raise Invalid("People and topics filter what a query finds; send a query.")
    last_moment = body.end_date and body.end_date - timedelta(microseconds=1)
    page = await deps.stores.conversation_lists.list_page(
        uid,
        ConversationFilter(
            discarded=None if body.include_discarded else False,
            start=body.start_date,
            end=last_moment,
        ),
        limit=body.per_page,
        offset=(body.page - 1) * body.per_page,
        with_transcripts=body.include_transcript,
        with_total=True,
        now=deps.clock.now(),
    )
    return ConversationHitsOut(
        items=await run_beside_the_loop(
            page.items, lambda: list(map(HitOut.of_listed, page.items))
        ),
        current_page=body.page,
        total_pages=math.ceil((page.total or 0) / body.per_page),
    )


ROUTES = (list_conversations, search_conversations)
