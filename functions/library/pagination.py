"""Pagination of the library's lists: by cursor, and by offset as the old app asks."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

from starlette.responses import Response

from functions.library.schemas import OffsetPageQuery
from shared.data.store.records import R, Records
from shared.domain.store.documents import Where
from shared.domain.value import value
from shared.edge.declare.pagination import build_array_response
from shared.edge.declare.routes import Call

T = TypeVar("T")


@value
class OffsetPage(Generic[T]):
    """One page; `next_cursor` leads to the following one, None at the end and after an offset.

    `total`: how many there are in all, where more follow and somebody can count them.
    """

    items: Sequence[T]
    has_more: bool
    next_cursor: str | None = None
    total: int | None = None


async def list_page(
    records: Records[R], call: Call[None, OffsetPageQuery], *, where: Sequence[Where] = ()
) -> OffsetPage[R]:
    query = call.query
    if query.offset:
        items = await records.list_newest(
            call.uid, limit=query.limit + 1, offset=query.offset, where=where
        )
        return cut_page(items, query.limit)
    page = await records.list_page(call.uid, limit=query.limit, after=query.cursor, where=where)
    return OffsetPage(items=page.items, has_more=page.next is not None, next_cursor=page.next)


def cut_page(found: Sequence[T], limit: int) -> OffsetPage[T]:
    """Return `limit` items of a list that was read with one more."""
    return OffsetPage(items=found[:limit], has_more=len(found) > limit)


async def count_rest(page: OffsetPage[T], count: Callable[[], Awaitable[int]]) -> OffsetPage[T]:
    """Return the page with how many there are in all; at the end of a list nobody asks."""
    return replace(page, total=await count()) if page.has_more else page


def build_page_response(page: OffsetPage[Any], kind: Any) -> Response:
    """Answer with the items as an array of `kind`, a schema."""
    return build_array_response(
        list(map(kind.model_validate, page.items)),
        kind,
        page.next_cursor,
        has_more=page.has_more,
        total=page.total,
    )
