"""What an app may read of a user's library, as much of it as one answer holds."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TypeVar

from functions.process_conversation.integrations.wire import (
    ConversationItem,
    ConversationsQuery,
    ExternalSearchIn,
    SearchOut,
    TasksQuery,
    first_moment,
    last_moment,
)
from functions.process_conversation.wiring import IntegrationDeps
from shared.data.paging import Page
from shared.data.search import Filters
from shared.domain.conversation import Conversation, Segment
from shared.domain.errors import Invalid, NotFound, Unavailable
from shared.domain.ids import UserId
from shared.domain.task import ActionItem
from shared.domain.value import value

MAX_FOUND = 50
"""So many conversations a search finds, over all its pages."""
MAX_TEXT_BYTES = 8_388_608
"""Transcripts in one answer; conversations beyond it come without theirs."""
_PAGE = 100
_MOST_PAGES = 100
_AT_ONCE = 20
"""Transcripts that are read, and held, together."""

T = TypeVar("T")


class BadDate(Invalid):
    """A date that cannot be read; the message is the old product's."""


@value
class Range:
    """From `start` to `end`, both included; None is open."""

    start: datetime | None
    end: datetime | None

    def has(self, moment: datetime | None) -> bool:
        if self.start is None and self.end is None:
            return True
        if moment is None:
            return False
        return (self.start is None or self.start <= moment) and (
            self.end is None or moment <= self.end
        )


def range_of(start: str | None, end: str | None, *, name: str = "") -> Range:
    """Read what an app wrote of a range. Raises BadDate, which names what cannot be read."""
    return Range(
        start=_read(first_moment, start, f"{name}start_date"),
        end=_read(last_moment, end, f"{name}end_date"),
    )


def _read(read: Callable[[str], datetime], text: str | None, name: str) -> datetime | None:
    try:
        return read(text) if text else None
    except (ValueError, OverflowError) as error:
        message = f"Invalid {name} format. Use ISO format (YYYY-MM-DDTHH:MM:SS.sssZ) or YYYY-MM-DD"
        raise BadDate(message) from error


async def conversations(
    deps: IntegrationDeps, uid: UserId, query: ConversationsQuery
) -> list[ConversationItem]:
    within = range_of(query.start_date, query.end_date)

    def wanted(one: Conversation) -> bool:
        kept = query.include_discarded or not one.discarded
        return (
            kept and within.has(one.created_at) and one.status in (query.statuses or [one.status])
        )

    found = await _matching(
        lambda after: deps.conversations.page(uid, limit=_PAGE, after=after),
        wanted,
        offset=query.offset,
        limit=query.limit,
    )
    room = _Room(query.max_transcript_segments)
    items: list[ConversationItem] = []
    for n in range(0, len(found), _AT_ONCE):
        some = found[n : n + _AT_ONCE]
        items += map(room.item, await _whole(deps, uid, some) if room.is_left else some)
    return items


async def tasks(deps: IntegrationDeps, uid: UserId, query: TasksQuery) -> list[ActionItem]:
    noted = range_of(query.start_date, query.end_date)
    due = range_of(query.due_start_date, query.due_end_date, name="due_")

    def wanted(one: ActionItem) -> bool:
        of_state = query.completed in (None, one.completed)
        of_talk = query.conversation_id in (None, one.conversation_id)
        return of_state and of_talk and noted.has(one.created_at) and due.has(one.due_at)

    return await _matching(
        lambda after: deps.action_items.page(uid, limit=_PAGE, after=after),
        wanted,
        offset=query.offset,
        limit=query.limit,
    )


async def search(
    deps: IntegrationDeps, uid: UserId, asked: ExternalSearchIn, most_segments: int
) -> SearchOut:
    within = range_of(asked.start_date, asked.end_date)
    found = await deps.search.conversations(
        uid,
        asked.query,
        filters=Filters(start=within.start, end=within.end),
        limit=MAX_FOUND,
    )
    first = (asked.page - 1) * asked.per_page
    shown = [one.conversation for one in found[first : first + asked.per_page]]
    room = _Room(most_segments)
    return SearchOut(
        conversations=[room.item(one) for one in shown],
        total_pages=math.ceil(len(found) / asked.per_page),
        current_page=asked.page,
        per_page=asked.per_page,
    )


async def _matching(
    turn: Callable[[str | None], Awaitable[Page[T]]],
    wanted: Callable[[T], bool],
    *,
    offset: int,
    limit: int,
) -> list[T]:
    """Read newest first, until enough is found or 10,000 were looked at."""
    found: list[T] = []
    after = None
    for _ in range(_MOST_PAGES):
        page = await turn(after)
        found += filter(wanted, page.items)
        after = page.next
        if after is None or len(found) >= offset + limit:
            break
    return found[offset : offset + limit]


async def _whole(
    deps: IntegrationDeps, uid: UserId, found: Sequence[Conversation]
) -> list[Conversation]:
    """Read transcripts; what was deleted meanwhile is left out."""
    read = await asyncio.gather(*(_read_whole(deps, uid, one) for one in found))
    return [one for one in read if one is not None]


async def _read_whole(
    deps: IntegrationDeps, uid: UserId, found: Conversation
) -> Conversation | None:
    try:
        return await deps.conversations.get(uid, found.id)
    except NotFound:
        return None
    except Unavailable:  # a part of its transcript is not there yet
        return found


class _Room:
    """What one answer still holds of transcripts, at most so many segments of each; -1 for all."""

    def __init__(self, most_segments: int) -> None:
        self._most = most_segments
        self._bytes = MAX_TEXT_BYTES if most_segments else 0

    @property
    def is_left(self) -> bool:
        return self._bytes > 0

    def item(self, one: Conversation) -> ConversationItem:
        spoken = one.spoken if self._most == -1 else one.spoken[: self._most]
        self._bytes -= _size(spoken)
        return ConversationItem.of(one, spoken if self._bytes >= 0 else ())


def _size(segments: Sequence[Segment]) -> int:
    return sum(len(segment.text.encode()) for segment in segments)
