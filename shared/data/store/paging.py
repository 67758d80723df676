"""Pagination: lists in pages, with an opaque cursor where the next page begins."""

import base64
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from shared.domain.errors import Invalid
from shared.domain.ids import is_id
from shared.domain.store.documents import Document, Query, build_cursor
from shared.domain.value import value

if TYPE_CHECKING:
    from shared.ports import Documents

T = TypeVar("T")


@value
class Page(Generic[T]):
    """A page of a list; `next` is the cursor of the following page, None at the end."""

    items: Sequence[T]
    next: str | None


async def iter_documents(documents: "Documents", query: Query) -> AsyncIterator[Document]:
    """Yield every document of a query, in pages of its limit."""
    while page := await documents.query(query):
        for document in page:
            yield document
        if len(page) != query.limit:
            return
        query = replace(query, start_after=build_cursor(page[-1], query))


def build_page(items: Sequence[T], documents: Sequence[Document], query: Query) -> Page[T]:
    """Build a page of a query ordered by time; a full page may be followed by another."""
    is_full = query.limit is not None and len(documents) == query.limit
    return Page(
        items=items, next=format_cursor(build_cursor(documents[-1], query)) if is_full else None
    )


def format_cursor(position: tuple[Any, ...]) -> str:
    """Write the cursor of a position: a time and a document's id."""
    at, name = position
    return base64.urlsafe_b64encode(json.dumps([at.isoformat(), name]).encode()).decode()


def parse_cursor(cursor_text: str | None) -> tuple[Any, ...] | None:
    """Read a cursor. Raises Invalid for one that is not ours."""
    if cursor_text is None:
        return None
    try:
        at, name = json.loads(base64.b64decode(cursor_text, altchars=b"-_", validate=True))
        boundary = datetime.fromisoformat(at), name
    except (ValueError, TypeError, RecursionError) as error:
        raise Invalid("The cursor is not one of this list; begin without one.") from error
    if boundary[0].utcoffset() != timedelta(0) or not _is_name(name):
        raise Invalid("The cursor is not one of this list; begin without one.")
    return boundary


def _is_name(name: object) -> bool:
    return isinstance(name, str) and is_id(name)
