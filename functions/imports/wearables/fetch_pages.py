"""Fetching of a wearable's past months: some pages at a time, by the one way out, until its API says to wait or to stop."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from functions.imports.formats.json_fields import Fields
from functions.imports.wearables.services import Wearable
from shared.domain.errors import NotAllowed, TimedOut, TooLarge, Unavailable, Unreadable
from shared.domain.value import value
from shared.models.refusals import parse_retry_after_s
from shared.ports import Egress, EgressRequest

MAX_PAGES = 10
"""Fetched in one step, so that what is fetched is stored before long."""
MAX_ITEMS = 100
MAX_ANSWER_BYTES = 20_971_520
TIMEOUT_S = 60.0
WAIT_S = 60.0
"""Where an API does not say for how long."""
MAX_WAIT_S = 3_600.0
REFUSED_KEY = (401, 403)
NOT_FOUND = 404
TOO_MANY = 429
FIRST_SERVER_ERROR = 500


@value
class Fetched:
    """What a step fetched: `items`, and the `cursor` from which the next step goes on.

    `is_last`: there is nothing behind it. `refusal` says why nothing more will come, `waits_until` and
    `waits_for` when it may, and why not now.
    """

    items: list[Any]
    cursor: str
    is_last: bool = False
    refusal: str = ""
    waits_until: datetime | None = None
    waits_for: str = ""


class _Stopped(Exception):
    """The API asks to wait until `until`, or refuses for good without it."""

    def __init__(
        self, reason: str, until: datetime | None = None, status: int | None = None
    ) -> None:
        super().__init__(reason)
        self.until = until
        self.status = status


@value
class Source:
    """An API at its address, with its owner's key; one that never `has_answered` is not waited for."""

    egress: Egress
    wearable: Wearable
    address: str
    key: str
    has_answered: bool


async def fetch_pages(source: Source, cursor: str, now: datetime) -> Fetched:
    """Fetch from a cursor on; a page counts as a whole, or not at all."""
    items: list[Any] = []
    try:
        for _ in range(MAX_PAGES):
            content = await _ask(source, source.wearable.build_path(cursor), now)
            page = _read(source, content, cursor)
            source = replace(source, has_answered=True)
            items += [await _complete(source, item, now) for item in page.items]
            if not page.cursor or page.cursor == cursor:
                return Fetched(items=items, cursor="", is_last=True)
            cursor = page.cursor
            if len(items) >= MAX_ITEMS:
                break
    except _Stopped as stop:
        if stop.until:
            return Fetched(items=items, cursor=cursor, waits_until=stop.until, waits_for=str(stop))
        return Fetched(items=items, cursor="", is_last=True, refusal=str(stop))
    return Fetched(items=items, cursor=cursor)


def _read(source: Source, content: Any, cursor: str) -> Any:
    try:
        return source.wearable.read_page(content, cursor)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _Stopped(
            f"{source.wearable.label} answered in a form that is not known here"
        ) from error


async def _complete(source: Source, item: Fields, now: datetime) -> Mapping[str, Any]:
    """Return an item as a whole; one that was deleted meanwhile as its head alone."""
    build_path = source.wearable.build_detail_path
    if build_path is None or "id" not in item:
        return item
    try:
        content = await _ask(source, build_path(item), now)
    except _Stopped as stop:
        if stop.status == NOT_FOUND:
            return item
        raise
    detail = content.get("conversation") if isinstance(content, dict) else None
    return {**item, **detail} if isinstance(detail, dict) else item


async def _ask(source: Source, path: str, now: datetime) -> Any:
    """Return the JSON of an answer. Raises _Stopped."""
    label = source.wearable.label
    request = EgressRequest(
        method="GET",
        url=source.address.rstrip("/") + path,
        headers={**source.wearable.build_headers(source.key), "Accept": "application/json"},
        timeout_s=TIMEOUT_S,
        max_bytes=MAX_ANSWER_BYTES,
    )
    try:
        answer = await source.egress.send(request)
    except (TimedOut, Unavailable) as error:
        until = now + timedelta(seconds=WAIT_S) if source.has_answered else None
        raise _Stopped(f"{label} does not answer", until) from error
    except (NotAllowed, Unreadable, TooLarge) as error:
        raise _Stopped(f"{label} cannot be asked: {error}") from error
    if answer.status == TOO_MANY or answer.status >= FIRST_SERVER_ERROR:
        wait_s = parse_retry_after_s(answer.headers, now) or WAIT_S
        until = now + timedelta(seconds=min(max(wait_s, 1.0), MAX_WAIT_S))
        is_limit = answer.status == TOO_MANY
        raise _Stopped(f"{label} {'asks to wait' if is_limit else 'does not answer'}", until)
    if answer.status in REFUSED_KEY:
        raise _Stopped(
            f"{label} refuses the key: it is mistyped or has ended. Make one {source.wearable.keys_at}, "
            "and import again: nothing is doubled"
        )
    try:
        if answer.status == 200:
            return json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise _Stopped(f"{label} answered in a form that is not known here") from error
    raise _Stopped(f"{label} answered {answer.status}", status=answer.status)
