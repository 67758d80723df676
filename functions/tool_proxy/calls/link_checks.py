"""Link checks: which addresses of an answer lead nowhere any more, asked of their servers.

Nothing in these requests names a user, and no cookie or key goes along. Every address, and each that one
of them redirects to, passes the Egress guard.
"""

from collections.abc import Sequence
from functools import partial
from http import HTTPStatus
from typing import Literal
from urllib.parse import urljoin

import anyio

from shared.domain.errors import NotAllowed, TimedOut, TooLarge, Unavailable, Unreadable
from shared.outbound.addresses import to_ascii
from shared.ports import Egress, EgressRequest

TIMEOUT_S = 8.0
MAX_REDIRECTS = 5
MAX_BODY_BYTES = 65_536
_GONE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})


async def find_broken_links(egress: Egress, urls: Sequence[str]) -> list[str]:
    """Return the addresses whose servers say that there is nothing; they are asked at the same time.

    What fails in any other way, or takes longer than TIMEOUT_S, may work again and is not broken.
    """
    broken: set[str] = set()

    async def check(url: str) -> None:
        with anyio.move_on_after(TIMEOUT_S):
            if await _is_broken(egress, url):
                broken.add(url)

    async with anyio.create_task_group() as tasks:
        for url in dict.fromkeys(urls):
            tasks.start_soon(check, url)
    return [url for url in urls if url in broken]


async def _is_broken(egress: Egress, url: str) -> bool:
    """Ask without a body first. Some servers know no HEAD, so GET alone shows that a page is gone."""
    status = await _fetch_status(egress, "HEAD", url)
    if status is None or status < HTTPStatus.BAD_REQUEST:
        return False
    return await _fetch_status(egress, "GET", url) in _GONE


async def _fetch_status(egress: Egress, method: Literal["HEAD", "GET"], url: str) -> int | None:
    """Return the status behind redirects; None where there is none."""
    request = partial(
        EgressRequest,
        method=method,
        headers={},
        timeout_s=TIMEOUT_S,
        max_bytes=MAX_BODY_BYTES,
        is_body_needed=False,
    )
    try:
        for _ in range(MAX_REDIRECTS + 1):
            response = await egress.send(request(url=to_ascii(url)))
            location = response.headers.get("location")
            if not location or not 300 <= response.status < 400:
                return response.status
            url = urljoin(url, location)
    except (ValueError, NotAllowed, TimedOut, TooLarge, Unavailable, Unreadable):
        return None
    return None
