"""Gmail: the owner's mail, to be found and read, never sent (P7)."""

import asyncio
import binascii
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser
from typing import Annotated
from urllib.parse import quote

from pydantic import Field

from shared.arguments import Arguments
from shared.domain.text import visible
from shared.integrations.google import ACCOUNT, GOOGLE
from shared.integrations.service import (
    Account,
    Answer,
    Consent,
    Integration,
    Missing,
    Query,
    Request,
    ServiceTool,
    line,
    told,
)

MESSAGES = "https://gmail.googleapis.com/gmail/v1/users/me/messages"
MAX_BODY = 12_000
_MAX_HTML = 200_000
"""Characters that are looked through for words: more would hold up other calls."""
_UNREAD_BY_PEOPLE = ("script", "style", "head", "title")


class GetGmailMessages(Arguments):
    """List the owner's mails, newest first, without their bodies; read_gmail_message reads one."""

    query: Annotated[
        str | None,
        Field(max_length=500, description="As in Gmail's search field: from:ann after:2024/01/19"),
    ] = None
    max_results: Annotated[int, Field(ge=1, le=20)] = 10
    label: Annotated[str | None, Field(max_length=100, description="INBOX, UNREAD, STARRED…")] = (
        None
    )


class ReadGmailMessage(Arguments):
    """Read one mail; its id comes from get_gmail_messages."""

    message_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class _Header(Answer):
    name: str
    value: str


class _Body(Answer):
    data: str = ""


class _Part(Answer):
    mimeType: str = ""  # noqa: N815 - as Google calls it
    headers: tuple[_Header, ...] = ()
    body: _Body = _Body()
    parts: tuple["_Part", ...] = ()


class _Message(Answer):
    id: str
    snippet: str = ""
    payload: _Part = _Part()


class _Named(Answer):
    id: str


class _Messages(Answer):
    messages: tuple[_Named, ...] = ()


async def _get(account: Account, asked: GetGmailMessages) -> str:
    query: Query = {"maxResults": asked.max_results}
    if asked.query:
        query["q"] = asked.query
    if asked.label:
        query["labelIds"] = asked.label
    found = (await account.send(Request(url=MESSAGES, query=query), _Messages)).messages
    mails = await asyncio.gather(*(_head(account, each.id) for each in found))
    there = [mail for mail in mails if mail is not None]
    if not there:
        return "There are no such mails."
    return told(f"{len(there)} mails:", [_entry(n, mail) for n, mail in enumerate(there, 1)])


async def _head(account: Account, message_id: str) -> _Message | None:
    """Return a mail without its body; None if it was deleted meanwhile."""
    try:
        request = Request(url=_at(message_id), query={"format": "metadata"})
        return await account.send(request, _Message)
    except Missing:
        return None


async def _read(account: Account, asked: ReadGmailMessage) -> str:
    mail = await account.send(
        Request(url=_at(asked.message_id), query={"format": "full"}), _Message
    )
    head = "\n".join(_header_lines(mail))
    text = visible(body_of(mail.payload)).strip()
    if len(text) > MAX_BODY:
        text = f"{text[:MAX_BODY]}\n… {len(text) - MAX_BODY} characters left out …"
    return f"{head}\n\n{text or '(no text)'}"


def body_of(part: _Part) -> str:
    """Return what a mail says: its plain text, or the words of its HTML."""
    plain = [each for each in _leaves(part) if each.mimeType == "text/plain"]
    if plain:
        return "\n".join(_decoded(each) for each in plain)
    html = [each for each in _leaves(part) if each.mimeType == "text/html"]
    return "\n".join(_Words.of(_decoded(each)) for each in html)


def _leaves(part: _Part) -> Iterator[_Part]:
    if not part.parts:
        yield part
    for each in part.parts:
        yield from _leaves(each)


def _decoded(part: _Part) -> str:
    try:
        return urlsafe_b64decode(part.body.data + "==").decode(errors="replace")
    except (binascii.Error, ValueError):
        return ""


class _Words(HTMLParser):
    """Keeps what a person would read of HTML."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._hidden = 0
        self._words: list[str] = []

    @classmethod
    def of(cls, html: str) -> str:
        parser = cls()
        with suppress(AssertionError):  # it gives up on some markup; what was read counts
            parser.feed(html[:_MAX_HTML])
        lines = "".join(parser._words).splitlines()
        return "\n".join(line for line in (" ".join(each.split()) for each in lines) if line)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in _UNREAD_BY_PEOPLE
        if tag in ("br", "p", "div", "tr", "li"):
            self._words.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _UNREAD_BY_PEOPLE and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._words.append(data)


def _entry(number: int, mail: _Message) -> str:
    head = "\n   ".join(_header_lines(mail))
    return f"{number}. {head}\n   {line(mail.snippet)}\n   message_id {line(mail.id, 64)}"


def _header_lines(mail: _Message) -> list[str]:
    given = {each.name.lower(): each.value for each in mail.payload.headers}
    return [f"{name.title()}: {line(given.get(name))}" for name in ("from", "date", "subject")]


def _at(message_id: str) -> str:
    return f"{MESSAGES}/{quote(message_id, safe='')}"


INTEGRATION = Integration(
    service="gmail",
    label="Gmail",
    consent=Consent(
        provider=GOOGLE,
        scopes=("https://www.googleapis.com/auth/gmail.readonly",),
        beside=("openid", "email"),
        account=ACCOUNT,
        account_name="email",
    ),
    tools=(
        ServiceTool(
            name="get_gmail_messages", status="Checking mail", asked=GetGmailMessages, run=_get
        ),
        ServiceTool(
            name="read_gmail_message", status="Reading mail", asked=ReadGmailMessage, run=_read
        ),
    ),
)
