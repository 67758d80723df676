"""Offsets: where a list goes on after so many records, found by counting instead of reading them.

Counting costs a read for each thousand records that are counted.

Also called: skip, seek, random access.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from shared.domain.store.documents import Document, Query, Where, build_cursor
from shared.domain.value import value

if TYPE_CHECKING:
    from shared.ports import Documents

MAX_SKIPPED = 100
"""Records that are read without being shown."""
_MAX_COUNTS = 30
_EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
_FIRST_SPAN = timedelta(days=1)


@value
class Start:
    """Where a list goes on: what `where` selects, without the first `skipped` of it."""

    where: tuple[Where, ...] = ()
    skipped: int = 0


async def query_from(documents: "Documents", query: Query, offset: int) -> Sequence[Document]:
    """Return what follows the first `offset` documents of a query, which is ordered by a time, the newest first."""
    start = await find_start(documents, query, offset, documents.count)
    query = replace(query, where=(*query.where, *start.where))
    if start.skipped:
        fields = tuple(order.field for order in query.order_by)
        skipped = await documents.query(replace(query, limit=start.skipped, fields=fields))
        if len(skipped) < start.skipped:
            return []
        query = replace(query, start_after=build_cursor(skipped[-1], query))
    return await documents.query(query)


async def find_start(
    documents: "Documents", query: Query, offset: int, count: Callable[[Query], Awaitable[int]]
) -> Start:
    """Find a time before which at most MAX_SKIPPED fewer than `offset` records are newer.

    `count` counts the records of a query as the list shows them. Records of one time are not divided:
    where many have the same, more are skipped.
    """
    if offset <= MAX_SKIPPED:
        return Start(skipped=offset)
    [order] = query.order_by
    query = replace(query, limit=None, start_after=None, fields=None)
    first = await documents.query(replace(query, limit=1, fields=(order.field,)))
    newest = first[0].fields.get(order.field) if first else None
    if not isinstance(newest, datetime):
        return Start(skipped=offset)

    async def count_newer(than: datetime) -> int:
        newer = Where(order.field, ">", than)
        return await count(replace(query, where=(*query.where, newer)))

    late, late_count = await _search(count_newer, newest, offset)
    return Start(where=(Where(order.field, "<=", late),), skipped=offset - late_count)


async def _search(
    count_newer: Callable[[datetime], Awaitable[int]], newest: datetime, offset: int
) -> tuple[datetime, int]:
    """Return a time with so many newer records that at most MAX_SKIPPED are left to skip, and how many they are."""
    late, late_count, span = newest, 0, _FIRST_SPAN
    early: tuple[datetime, int] | None = None
    for attempt in range(_MAX_COUNTS):
        if offset - late_count <= MAX_SKIPPED or late == _EARLIEST:
            break
        if early is None:
            middle = max(late - span, _EARLIEST)
        elif attempt % 2:  # the time may lie at an end of a long span in which nothing was written
            middle = late - (late - early[0]) / 2
        else:
            middle = _interpolate((late, late_count), early, offset)
        middle_count = await count_newer(middle)
        if middle_count <= offset:
            late, late_count, span = middle, middle_count, span * 4
        else:
            early = middle, middle_count
    return late, late_count


def _interpolate(late: tuple[datetime, int], early: tuple[datetime, int], offset: int) -> datetime:
    """Return the time between two where `offset` falls if records are spread evenly, not too near to either."""
    share = (offset - MAX_SKIPPED / 2 - late[1]) / (early[1] - late[1])
    return late[0] - (late[0] - early[0]) * min(max(share, 0.05), 0.95)
