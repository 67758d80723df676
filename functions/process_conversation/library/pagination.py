"""Pagination of the library's lists: by cursor, and by offset as the old app asks."""

from collections.abc import Sequence
from typing import Any, Generic

from starlette.responses import Response

from functions.process_conversation.library.schemas import OffsetPageQuery
from shared.data.codec import type_adapter
from shared.data.records import R, Records
from shared.domain.value import value
from shared.edge.routes import Call

NEXT_CURSOR_HEADER = "X-Next-Cursor"


@value
class OffsetPage(Generic[R]):
    """One page; `next_cursor` leads to the following one, None at the end and after an offset."""

    items: Sequence[R]
    has_more: bool
    next_cursor: str | None = None


async def list_page(records: Records[R], call: Call[None, OffsetPageQuery]) -> OffsetPage[R]:
    query = call.query
    if query.offset:
        items = await records.list_newest(call.uid, limit=query.limit + 1, offset=query.offset)
        return OffsetPage(items=items[: query.limit], has_more=len(items) > query.limit)
    page = await records.list_page(call.uid, limit=query.limit, after=query.cursor)
    return OffsetPage(items=page.items, has_more=page.next is not None, next_cursor=page.next)


def build_array_response(items: Sequence[Any], kind: Any, next_cursor: str | None) -> Response:
    """Answer with a plain array, as the old app reads it; the cursor stands in a header."""
    headers = {NEXT_CURSOR_HEADER: next_cursor} if next_cursor else None
    body = type_adapter(list[kind]).dump_json(list(items))
    return Response(body, media_type="application/json", headers=headers)
