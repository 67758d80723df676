"""Pagination: a page of a list as a plain JSON array; headers tell of what follows."""

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from shared.data.store.codec import type_adapter

NEXT_CURSOR_HEADER = "X-Next-Cursor"
HAS_MORE_HEADER = "X-Has-More"
TOTAL_HEADER = "X-Total-Count"


def build_array_response(
    items: Sequence[Any],
    kind: Any,
    next_cursor: str | None = None,
    *,
    has_more: bool = False,
    total: int | None = None,
) -> Response:
    """Answer with an array of `kind`, as released apps read it; none of the headers at the end of a list.

    A cursor says that there is more, too. `total` is how many there are in all, where that is known.
    """
    values = {
        NEXT_CURSOR_HEADER: next_cursor,
        HAS_MORE_HEADER: "true" if has_more or next_cursor else None,
        TOTAL_HEADER: None if total is None else str(total),
    }
    headers = {name: text for name, text in values.items() if text}
    body = type_adapter(list[kind]).dump_json(list(items))
    return Response(body, media_type="application/json", headers=headers)
