"""Library reads of apps: conversations and tasks of a user, limited to what one answer can hold."""

import math
from collections.abc import Callable, Sequence
from datetime import datetime

from functions.library.date_filters import (
    parse_first_moment,
    parse_last_moment,
)
from functions.library.programs.integrations.integration_schemas import (
    AppConversationOut,
    ConversationsQuery,
    ExternalSearchIn,
    SearchOut,
    TasksQuery,
)
from functions.library.programs.listings import load_transcripts, read_range, scan_pages
from shared.data.search.search import Filters
from shared.domain.conversations.conversation import Conversation, LabelledSegment
from shared.domain.errors import Invalid
from shared.domain.ids import UserId
from shared.domain.tasks.action_item import ActionItem
from shared.domain.value import value
from shared.library.deps import IntegrationDeps

MAX_TEXT_BYTES = 8_388_608
"""The transcripts of one answer; further conversations come without theirs."""
_PAGE_SIZE = 100
_MAX_CONCURRENT_READS = 20
"""Transcripts in memory at the same time."""


class InvalidDate(Invalid):
    """A malformed date; the message is the one of the old product."""


@value
class TimeRange:
    """From `start` to `end`, both included; None is open."""

    start: datetime | None
    end: datetime | None

    def contains(self, moment: datetime | None) -> bool:
        if self.start is None and self.end is None:
            return True
        if moment is None:
            return False
        return (self.start is None or self.start <= moment) and (
            self.end is None or moment <= self.end
        )


async def _load_range(
    deps: IntegrationDeps, uid: UserId, start: str | None, end: str | None, *, name: str = ""
) -> TimeRange:
    """Read a range of dates, by the owner's clock. Raises InvalidDate, which names the malformed one."""
    first, last = await read_range(
        deps,
        uid,
        _parse_moment(parse_first_moment, start, f"{name}start_date"),
        _parse_moment(parse_last_moment, end, f"{name}end_date"),
    )
    return TimeRange(start=first, end=last)


def _parse_moment(parse: Callable[[str], datetime], text: str | None, name: str) -> datetime | None:
    try:
        return parse(text) if text else None
    except (ValueError, OverflowError) as error:
        message = f"Invalid {name} format. Use ISO format (YYYY-MM-DDTHH:MM:SS.sssZ) or YYYY-MM-DD"
        raise InvalidDate(message) from error


async def list_conversations(
    deps: IntegrationDeps, uid: UserId, query: ConversationsQuery
) -> list[AppConversationOut]:
    created_range = await _load_range(deps, uid, query.start_date, query.end_date)

    def is_match(conversation: Conversation) -> bool:
        is_shown = query.include_discarded or not conversation.discarded
        return (
            is_shown
            and created_range.contains(conversation.created_at)
            and conversation.status in (query.statuses or [conversation.status])
        )

    matches = await scan_pages(
        lambda after: deps.stores.conversations.list_page(uid, limit=_PAGE_SIZE, after=after),
        is_match,
        offset=query.offset,
        limit=query.limit,
    )
    budget = _TranscriptBudget(query.max_transcript_segments)
    items: list[AppConversationOut] = []
    for n in range(0, len(matches), _MAX_CONCURRENT_READS):
        batch = matches[n : n + _MAX_CONCURRENT_READS]
        items += map(
            budget.to_item,
            await load_transcripts(deps, uid, batch) if budget.has_remaining else batch,
        )
    return items


async def list_tasks(deps: IntegrationDeps, uid: UserId, query: TasksQuery) -> list[ActionItem]:
    created_range = await _load_range(deps, uid, query.start_date, query.end_date)
    due_range = await _load_range(deps, uid, query.due_start_date, query.due_end_date, name="due_")

    def is_match(task: ActionItem) -> bool:
        has_state = query.completed in (None, task.completed)
        has_conversation = query.conversation_id in (None, task.conversation_id)
        return (
            task.owner == "me"
            and has_state
            and has_conversation
            and created_range.contains(task.created_at)
            and due_range.contains(task.due_at)
        )

    return await scan_pages(
        lambda after: deps.stores.action_items.list_page(uid, limit=_PAGE_SIZE, after=after),
        is_match,
        offset=query.offset,
        limit=query.limit,
    )


async def search_conversations(
    deps: IntegrationDeps, uid: UserId, body: ExternalSearchIn, max_segments: int
) -> SearchOut:
    time_range = await _load_range(deps, uid, body.start_date, body.end_date)
    found = await deps.search.search_page(
        uid,
        body.query,
        filters=Filters(start=time_range.start, end=time_range.end),
        offset=(body.page - 1) * body.per_page,
        limit=body.per_page,
        now=deps.clock.now(),
    )
    budget = _TranscriptBudget(max_segments)
    return SearchOut(
        conversations=[budget.to_item(hit.conversation) for hit in found.conversations],
        total_pages=math.ceil(found.total / body.per_page),
        current_page=body.page,
        per_page=body.per_page,
    )


class _TranscriptBudget:
    """Room for transcripts in one answer, `max_segments` of each at most; -1 for all."""

    def __init__(self, max_segments: int) -> None:
        self._max_segments = max_segments
        self._remaining_bytes = MAX_TEXT_BYTES if max_segments else 0

    @property
    def has_remaining(self) -> bool:
        return self._remaining_bytes > 0

    def to_item(self, conversation: Conversation) -> AppConversationOut:
        segments = (
            conversation.labelled_segments
            if self._max_segments == -1
            else conversation.labelled_segments[: self._max_segments]
        )
        self._remaining_bytes -= _count_bytes(segments)
        return AppConversationOut.of(conversation, segments if self._remaining_bytes >= 0 else ())


def _count_bytes(segments: Sequence[LabelledSegment]) -> int:
    return sum(len(segment.text.encode()) for segment in segments)
