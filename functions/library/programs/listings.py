"""Listings for programs: memories and conversations, newest first, by filter and offset."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import accumulate, takewhile
from typing import Protocol, TypeVar

from functions.library.date_filters import place
from functions.library.pagination import OffsetPage, count_rest, cut_page
from functions.library.programs.program_schemas import (
    ConversationsFilter,
    MemoriesFilter,
)
from shared.data.conversations.conversation_key import ConversationFilter
from shared.data.conversations.conversation_lists import MAX_TEXT_BYTES
from shared.domain.conversations.conversation import Conversation
from shared.domain.errors import NotFound, Unavailable
from shared.domain.ids import FolderId, UserId
from shared.domain.memories.memory import Memory
from shared.library.deps import IntegrationDeps

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
_PAGE_SIZE = 100
_MAX_PAGES = 100


class ListPage(Protocol[T_co]):
    """A page of any list; `next` is the cursor of the following one, None at the end."""

    @property
    def items(self) -> Sequence[T_co]: ...

    @property
    def next(self) -> str | None: ...


async def list_memories(
    deps: IntegrationDeps, uid: UserId, memories: MemoriesFilter
) -> OffsetPage[Memory]:
    """List memories that are current; those of some categories are not counted."""
    store, limit, offset = deps.stores.memories, memories.limit, memories.offset
    if memories.categories:
        categories = sorted(set(memories.categories))
        found = await store.list_in_categories(uid, categories, limit=limit + 1, offset=offset)
        return cut_page(found, limit)
    found = await store.list_newest(uid, limit=limit + 1, offset=offset)
    return await count_rest(cut_page(found, limit), partial(store.count_current, uid))


async def list_conversations(
    deps: IntegrationDeps,
    uid: UserId,
    conversations: ConversationsFilter,
    *,
    with_transcripts: bool = False,
    starred: bool | None = None,
    folder_ids: Collection[FolderId] | None = None,
) -> OffsetPage[Conversation]:
    """List completed conversations that were not discarded; None of a filter is any.

    Of their transcripts, the first that one answer has room for are loaded. Categories stand in no
    key, so that a list of some reads the conversations of all, and counts none.
    """
    start, end = await read_range(deps, uid, conversations.start_date, conversations.end_date)
    wanted = ConversationFilter(
        statuses=("completed",),
        starred=starred,
        folder_ids=folder_ids,
        start=start,
        end=end,
    )
    lists, now = deps.stores.conversation_lists, deps.clock.now()
    load_page = partial(lists.list_page, uid, wanted, now=now)
    limit, offset = conversations.limit, conversations.offset
    if not conversations.categories:
        page = await load_page(limit=limit, offset=offset, with_transcripts=with_transcripts)
        listed = OffsetPage(items=page.items, has_more=page.next is not None)
        return await count_rest(listed, partial(lists.count, uid, wanted, now=now))
    matches = await scan_pages(
        lambda after: load_page(limit=_PAGE_SIZE, after=after, with_transcripts=False),
        lambda conversation: conversation.structured.category in conversations.categories,
        offset=offset,
        limit=limit + 1,
    )
    listed = cut_page(matches, limit)
    if not with_transcripts:
        return listed
    room = _count_within_room(listed.items)
    whole = await load_transcripts(deps, uid, listed.items[:room])
    return replace(listed, items=[*whole, *listed.items[room:]])


async def read_range(
    deps: IntegrationDeps, uid: UserId, start: datetime | None, end: datetime | None
) -> tuple[datetime | None, datetime | None]:
    """Return a range in UTC; a bound without a zone is a time on the owner's clock."""
    if all(moment is None or moment.tzinfo for moment in (start, end)):
        return start, end
    zone = (await deps.stores.profiles.get(uid)).zone
    return place(start, zone), place(end, zone)


def _count_within_room(conversations: Sequence[Conversation]) -> int:
    """Count the first conversations whose transcripts fit into one answer."""
    sizes = accumulate(conversation.text_bytes for conversation in conversations)
    return sum(1 for _ in takewhile(lambda size: size <= MAX_TEXT_BYTES, sizes))


async def load_transcripts(
    deps: IntegrationDeps, uid: UserId, conversations: Sequence[Conversation]
) -> list[Conversation]:
    """Load transcripts; conversations deleted meanwhile are left out."""
    results = await asyncio.gather(
        *(_load_transcript(deps, uid, conversation) for conversation in conversations)
    )
    return [conversation for conversation in results if conversation is not None]


async def _load_transcript(
    deps: IntegrationDeps, uid: UserId, conversation: Conversation
) -> Conversation | None:
    try:
        return await deps.stores.conversations.get(uid, conversation.id)
    except NotFound:
        return None
    except Unavailable:  # a part of the transcript is not stored yet
        return conversation


async def scan_pages(
    load_page: Callable[[str | None], Awaitable[ListPage[T]]],
    is_match: Callable[[T], bool],
    *,
    offset: int,
    limit: int,
) -> list[T]:
    """Read pages, newest first, until there are enough matches or 10,000 items were read."""
    matches: list[T] = []
    after = None
    for _ in range(_MAX_PAGES):
        page = await load_page(after)
        matches += filter(is_match, page.items)
        after = page.next
        if after is None or len(matches) >= offset + limit:
            break
    return matches[offset : offset + limit]
