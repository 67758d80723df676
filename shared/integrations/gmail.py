"""Gmail: tools that list and read the owner's mail; none sends."""

import asyncio
import binascii
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from typing import Annotated
from urllib.parse import quote
from zoneinfo import ZoneInfo

from pydantic import Field, ValidationInfo, field_validator

from shared.arguments import Arguments
from shared.domain.apps.tool_data import ToolData
from shared.domain.store.sizes import truncate
from shared.integrations.google import ACCOUNT_URL, GOOGLE
from shared.integrations.html_text import extract_text
from shared.integrations.service import (
    Account,
    ConnectionSpec,
    Integration,
    QueryParams,
    ServiceItemNotFound,
    ServiceRequest,
    ServiceResponse,
    ServiceTool,
    build_listing,
    format_list,
    localize_field,
    to_one_line,
)
from shared.security.visible_text import strip_invisible

MESSAGES = "https://gmail.googleapis.com/gmail/v1/users/me/messages"
MAX_BODY_CHARS = 12_000
_MAX_HTML_CHARS = 200_000
"""Parsing more would delay other calls."""


class GetGmailMessages(Arguments):
    """List the owner's mails, newest first, without their bodies; read_gmail_message reads one."""

    query: Annotated[
        str | None,
        Field(
            max_length=500,
            description="As in Gmail's search field, with from:, subject:, after: and before:.",
        ),
    ] = None
    max_results: Annotated[int, Field(ge=1, le=20)] = 10
    label: Annotated[str | None, Field(max_length=100, description="INBOX, UNREAD, STARRED…")] = (
        None
    )


class ReadGmailMessage(Arguments):
    """Read one mail; its id comes from get_gmail_messages."""

    message_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class _Header(ServiceResponse):
    name: str
    value: str

    @field_validator("value")
    @classmethod
    def _localize_date(cls, text: str, info: ValidationInfo[ZoneInfo]) -> str:
        return localize_field(text, info) if info.data.get("name", "").lower() == "date" else text


class _Body(ServiceResponse):
    data: str = ""


class _Part(ServiceResponse):
    mimeType: str = ""  # noqa: N815 - Google's name
    headers: tuple[_Header, ...] = ()
    body: _Body = _Body()
    parts: tuple["_Part", ...] = ()


class _Message(ServiceResponse):
    id: str
    snippet: str = ""
    payload: _Part = _Part()


class _MessageRef(ServiceResponse):
    id: str


class _Messages(ServiceResponse):
    messages: tuple[_MessageRef, ...] = ()


async def _list_messages(account: Account, arguments: GetGmailMessages) -> str | ToolData:
    query: QueryParams = {"maxResults": arguments.max_results}
    if arguments.query:
        query["q"] = arguments.query
    if arguments.label:
        query["labelIds"] = arguments.label
    refs = (await account.send(ServiceRequest(url=MESSAGES, query=query), _Messages)).messages
    mails = await asyncio.gather(*(_fetch_metadata(account, ref.id) for ref in refs))
    existing_mails = [mail for mail in mails if mail is not None]
    if not existing_mails:
        return "There are no such mails."
    lines = [_format_entry(n, mail) for n, mail in enumerate(existing_mails, 1)]
    text = format_list(f"{len(existing_mails)} mails:", lines)
    entries = list(map(_to_entry, existing_mails))
    return build_listing(text, "mails", entries, entry_type="record")


async def _fetch_metadata(account: Account, message_id: str) -> _Message | None:
    """Return a mail without its body; None if it was deleted since it was listed."""
    try:
        return await _fetch_message(account, message_id, "metadata")
    except ServiceItemNotFound:
        return None


async def _fetch_message(account: Account, message_id: str, message_format: str) -> _Message:
    url = f"{MESSAGES}/{quote(message_id, safe='')}"
    return await account.send(ServiceRequest(url=url, query={"format": message_format}), _Message)


async def _read_message(account: Account, arguments: ReadGmailMessage) -> str:
    mail = await _fetch_message(account, arguments.message_id, "full")
    head = "\n".join(_format_headers(mail))
    text = strip_invisible(extract_body(mail.payload)).strip()
    return f"{head}\n\n{truncate(text, MAX_BODY_CHARS) or '(no text)'}"


def extract_body(part: _Part) -> str:
    """Return a mail's plain text, or else the text of its HTML."""
    plain = [leaf for leaf in _iterate_leaves(part) if leaf.mimeType == "text/plain"]
    if plain:
        return "\n".join(_decode_body(leaf) for leaf in plain)
    html = [leaf for leaf in _iterate_leaves(part) if leaf.mimeType == "text/html"]
    return "\n".join(
        extract_text(_decode_body(leaf)[:_MAX_HTML_CHARS].encode()).text for leaf in html
    )


def _iterate_leaves(part: _Part) -> Iterator[_Part]:
    if not part.parts:
        yield part
    for child in part.parts:
        yield from _iterate_leaves(child)


def _decode_body(part: _Part) -> str:
    try:
        return urlsafe_b64decode(part.body.data + "==").decode(errors="replace")
    except (binascii.Error, ValueError):
        return ""


def _to_entry(mail: _Message) -> dict[str, str]:
    return {
        **_select_headers(mail),
        "snippet": to_one_line(mail.snippet),
        "message_id": to_one_line(mail.id, 64),
    }


def _format_entry(number: int, mail: _Message) -> str:
    head = "\n   ".join(_format_headers(mail))
    return f"{number}. {head}\n   {to_one_line(mail.snippet)}\n   message_id {to_one_line(mail.id, 64)}"


def _format_headers(mail: _Message) -> list[str]:
    return [f"{name.title()}: {text}" for name, text in _select_headers(mail).items()]


def _select_headers(mail: _Message) -> dict[str, str]:
    headers = {header.name.lower(): header.value for header in mail.payload.headers}
    return {name: to_one_line(headers.get(name)) for name in ("from", "date", "subject")}


INTEGRATION = Integration(
    service="gmail",
    label="Gmail",
    connection=ConnectionSpec(
        provider=GOOGLE,
        scopes=("https://www.googleapis.com/auth/gmail.readonly",),
        extra_scopes=("openid", "email"),
        account_url=ACCOUNT_URL,
        account_name_path="email",
    ),
    tools=(
        ServiceTool("get_gmail_messages", "Checking mail", GetGmailMessages, _list_messages),
        ServiceTool("read_gmail_message", "Reading mail", ReadGmailMessage, _read_message),
    ),
)
