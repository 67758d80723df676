"""Pagination of the library's lists: by cursor, and by offset as the old app asks."""

from collections.abc import Sequence
from typing import Generic

from functions.library.schemas import OffsetPageQuery
from shared.data.store.records import R, Records
from shared.domain.store.documents import Where
from shared.domain.value import value
from shared.edge.declare.routes import Call


@value
class OffsetPage(Generic[R]):
    """One page; `next_cursor` leads to the following one, None at the end and after an offset."""

    items: Sequence[R]
    has_more: bool
    next_cursor: str | None = None


async def list_page(
    records: Records[R], call: Call[None, OffsetPageQuery], *, where: Sequence[Where] = ()
) -> OffsetPage[R]:
    query = call.query
    if query.offset:
        items = await records.list_newest(
            call.uid, limit=query.limit + 1, offset=query.offset, where=where
        )
        return OffsetPage(items=items[: query.limit], has_more=len(items) > query.limit)
    page = await records.list_page(call.uid, limit=query.limit, after=query.cursor, where=where)
    return OffsetPage(items=page.items, has_more=page.next is not None, next_cursor=page.next)
