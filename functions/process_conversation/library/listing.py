"""Lists of records as the old app pages through them, by offset, and as the new one does."""

from collections.abc import Sequence
from typing import Any, Generic

from starlette.responses import Response

from functions.process_conversation.library.wire import PageQuery
from shared.data.codec import adapter
from shared.data.records import R, Records
from shared.domain.value import value
from shared.edge.http import Call

NEXT_CURSOR = "X-Next-Cursor"


@value
class Listed(Generic[R]):
    """One page; `next_cursor` leads to the following one, None at the end and after an offset."""

    items: Sequence[R]
    has_more: bool
    next_cursor: str | None = None


async def listed(records: Records[R], call: Call[None]) -> Listed[R]:
    query: PageQuery = call.query
    if query.offset:
        found = await records.newest(call.uid, limit=query.limit + 1, offset=query.offset)
        return Listed(items=found[: query.limit], has_more=len(found) > query.limit)
    page = await records.page(call.uid, limit=query.limit, after=query.cursor)
    return Listed(items=page.items, has_more=page.next is not None, next_cursor=page.next)


def array(items: Sequence[Any], kind: Any, next_cursor: str | None) -> Response:
    """Answer with a plain array, as the old app reads it; the cursor stands in a header."""
    headers = {NEXT_CURSOR: next_cursor} if next_cursor else None
    body = adapter(list[kind]).dump_json(list(items))
    return Response(body, media_type="application/json", headers=headers)
