"""Pagination: a page of a list as a plain JSON array, with the cursor of the next page in a header."""

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from shared.data.store.codec import type_adapter

NEXT_CURSOR_HEADER = "X-Next-Cursor"


def build_array_response(items: Sequence[Any], kind: Any, next_cursor: str | None) -> Response:
    """Answer with an array of `kind`, as released apps read it; no cursor at the end of the list."""
    headers = {NEXT_CURSOR_HEADER: next_cursor} if next_cursor else None
    body = type_adapter(list[kind]).dump_json(list(items))
    return Response(body, media_type="application/json", headers=headers)
