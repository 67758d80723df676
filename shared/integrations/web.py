"""Web pages: a tool that reads the text of one address, with no account and no key.

Also called: web browsing, web scraping.
"""

import codecs
from collections.abc import Sequence
from email.message import Message
from functools import partial
from typing import Annotated
from urllib.parse import urljoin

import anyio.to_thread
from pydantic import Field

from shared.arguments import Arguments
from shared.domain.errors import ToolFailed, ToolRefused
from shared.domain.store.sizes import truncate
from shared.integrations.html_text import HtmlText, extract_text
from shared.integrations.service import (
    MAX_TEXT_CHARS,
    Account,
    Integration,
    ServiceTool,
    to_one_line,
)
from shared.outbound.addresses import to_ascii
from shared.ports import EgressResponse
from shared.security.visible_text import strip_invisible

MAX_REDIRECTS = 5
MAX_PAGE_BYTES = 2 * 1_048_576
HTML = ("text/html", "application/xhtml+xml")
ACCEPTED: Sequence[str] = (*HTML, "text/*", "application/json")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TEXT_CODECS = ("utf-8", "utf-16", "utf-32", "ascii", "iso8859", "cp", "koi8", "gb", "big5",
                "shift_jis", "euc_")  # fmt: skip
"""Codecs of texts; some others of Python's take time that grows with the square."""


class ReadWebPage(Arguments):
    """Read the text of a public web page that the owner or a search named; its https:// address only."""

    url: Annotated[str, Field(min_length=8, max_length=2_000)]


async def _read_page(account: Account, arguments: ReadWebPage) -> str:
    url = _to_ascii(arguments.url)
    for _ in range(MAX_REDIRECTS + 1):
        response = await account.fetch(url, accepts=ACCEPTED, max_bytes=MAX_PAGE_BYTES)
        location = response.headers.get("location")
        if response.status not in _REDIRECTS or not location:
            return await _format_page(url, response)
        url = _to_ascii(urljoin(url, location))
    raise ToolFailed(f"The page redirects more than {MAX_REDIRECTS} times.")


async def _format_page(url: str, response: EgressResponse) -> str:
    if not 200 <= response.status < 300:
        raise ToolFailed(f"The page cannot be read (HTTP {response.status}).")
    page = await anyio.to_thread.run_sync(partial(_extract, response))
    text = truncate(strip_invisible(page.text).strip(), MAX_TEXT_CHARS)
    title = to_one_line(page.title)
    head = [f"Title: {title}"] if title else []
    return "\n".join([*head, f"Address: {url}", "", text or "The page has no text."])


def _extract(response: EgressResponse) -> HtmlText:
    charset = _find_charset(response.content_type)
    media_type = response.content_type.partition(";")[0].strip().lower()
    if media_type in HTML or (not media_type and response.body.lstrip()[:1] == b"<"):
        return extract_text(response.body, charset)
    return HtmlText(title="", text=response.body.decode(charset or "utf-8", errors="replace"))


def _find_charset(content_type: str) -> str | None:
    """Return the codec that a server names, None for what is no codec of texts."""
    header = Message()
    header["content-type"] = content_type
    try:
        name = codecs.lookup(str(header.get_content_charset() or "")).name
    except (LookupError, ValueError):
        return None
    return name if name.startswith(_TEXT_CODECS) else None


def _to_ascii(url: str) -> str:
    """Write an address as it is sent. Raises ToolRefused."""
    try:
        return to_ascii(url)
    except ValueError as error:
        raise ToolRefused("This is no web address. Give one that begins with https://.") from error


INTEGRATION = Integration(
    service="web",
    label="Web pages",
    tools=(
        ServiceTool(
            "read_web_page", "Reading a web page", ReadWebPage, _read_page, is_grantable=False
        ),
    ),
)
