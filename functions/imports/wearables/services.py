"""Wearables: the APIs by which Limitless, Omi and Bee give their owner what they recorded, page by page.

Limitless: https://www.limitless.ai/developers, Omi: https://docs.omi.me/doc/developer/api/conversations, Bee: its
developer API with `x-api-key`; read 2026-11.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from functions.imports.formats.json_fields import find_number, list_objects
from shared.domain.files.wearable_name import WearableName
from shared.domain.value import value

LIMITLESS_PAGE = 10
"""The most that it gives at once."""
OMI_PAGE = 50
BEE_PAGE = 10
"""Each of them is one call more."""


@value
class Page:
    """What a list says: the items, and the cursor of the next page, empty behind the last one."""

    items: Sequence[Any]
    cursor: str


@value
class Wearable:
    """An API: `build_path` of a page by its cursor, which is empty at first, and `read_page` of its answer.

    `build_detail_path` leads to the whole of an item, where the list gives but its head. `wrap` builds a file
    of items as the formats know it. `keys_at` says where its owner makes keys.
    """

    label: str
    keys_at: str
    build_headers: Callable[[str], Mapping[str, str]]
    build_path: Callable[[str], str]
    read_page: Callable[[Any, str], Page]
    wrap: Callable[[Sequence[Any]], Any]
    build_detail_path: Callable[[Mapping[str, Any]], str] | None = None


def _build_limitless_path(cursor: str) -> str:
    """Ask for the oldest first: what is recorded meanwhile stands behind the last page."""
    query = {"limit": LIMITLESS_PAGE, "direction": "asc", "timezone": "UTC", "includeContents": "true",
             "includeMarkdown": "false", "includeHeadings": "true"}  # fmt: skip
    return f"/v1/lifelogs?{urlencode({**query, **({'cursor': cursor} if cursor else {})})}"


def _read_limitless_page(content: Any, _cursor: str) -> Page:
    """Raises KeyError and TypeError for another answer."""
    following = content["meta"]["lifelogs"].get("nextCursor")
    return Page(items=list_objects(content["data"]["lifelogs"]), cursor=str(following or ""))


def _build_omi_path(cursor: str) -> str:
    query = {"limit": OMI_PAGE, "offset": cursor or 0, "include_transcript": "true"}
    return f"/v1/dev/user/conversations?{urlencode(query)}"


def _read_omi_page(content: Any, cursor: str) -> Page:
    """Only an empty page is the last one: a server may give fewer than it is asked for."""
    if not isinstance(content, list):
        raise TypeError("no list of conversations")
    items = list_objects(content)
    return Page(items=items, cursor=str(int(cursor or 0) + len(items)) if items else "")


def _build_bee_path(cursor: str) -> str:
    return f"/v1/me/conversations?{urlencode({'limit': BEE_PAGE, 'page': cursor or 1})}"


def _read_bee_page(content: Any, cursor: str) -> Page:
    items, page = list_objects(content["conversations"]), int(cursor or 1)
    last = find_number(content, ("totalPages",))
    is_last = not items or (last is not None and page >= last)
    return Page(items=items, cursor="" if is_last else str(page + 1))


def _build_bee_detail_path(item: Mapping[str, Any]) -> str:
    return f"/v1/me/conversations/{quote(str(item['id']), safe='')}"


WEARABLES: Mapping[WearableName, Wearable] = {
    "limitless": Wearable(
        label="Limitless",
        keys_at="under Developer in its app",
        build_headers=lambda key: {"X-API-Key": key},
        build_path=_build_limitless_path,
        read_page=_read_limitless_page,
        wrap=lambda items: {"data": {"lifelogs": items}},
    ),
    "omi": Wearable(
        label="Omi",
        keys_at="under Settings, Developer in its app",
        build_headers=lambda key: {"Authorization": f"Bearer {key}"},
        build_path=_build_omi_path,
        read_page=_read_omi_page,
        wrap=lambda items: {"conversations": items},
    ),
    "bee": Wearable(
        label="Bee",
        keys_at="under Developer in its app",
        build_headers=lambda key: {"x-api-key": key},
        build_path=_build_bee_path,
        read_page=_read_bee_page,
        wrap=lambda items: {"conversations": [{"transcriptions": [], **item} for item in items]},
        build_detail_path=_build_bee_detail_path,
    ),
}
