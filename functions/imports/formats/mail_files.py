"""Mails as files, one or a mailbox of them: the header fields of RFC 5322, then the text.

Also called: email import.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from email import message_from_string, policy
from email.headerregistry import HeaderRegistry
from email.message import EmailMessage, MIMEPart
from email.utils import parsedate_to_datetime
from typing import Any

from functions.imports.formats.drafts import Contents, Draft, LeftOut, TextFile, Turn
from functions.imports.formats.unread import count_unread_lines
from shared.integrations.html_text import parse_html, read_element
from shared.library.decoding import UnreadableFile, decode

_HEADER = re.compile(r"\s*(?:[A-Z][A-Za-z-]{1,40}:[^\n]*\n(?:[ \t][^\n]*\n)*){2,200}\n", re.ASCII)
_POSTMARK = re.compile(
    r"^From \S[^\n]*\b\d{4}(?: [+-]\d{4})?[ \t\r]*\n(?=[A-Z][A-Za-z-]{0,40}:)",
    re.MULTILINE | re.ASCII,
)
"""The line between the mails of a mailbox (RFC 4155), above the first field of one."""
_QUOTED_FROM = re.compile(r"^>(?=>*From )", re.MULTILINE)
_QUOTATIONS = (
    "//*[contains(@class, 'gmail_quote') or (self::blockquote and @type = 'cite')]"
    "[not(ancestor::*[contains(@class, 'gmail_quote') or (self::blockquote and @type = 'cite')])]"
)
"""Where pages of mails have what they answer, the outermost of each."""
ENCODED = ("base64", "quoted-printable")
FORWARDED = "message/rfc822"
MAX_HEADER_CHARS = 100_000
SENSELESS_FIELD = (AttributeError, LookupError, TypeError, ValueError)
"""What the parser of fields raises for some that break their rules."""
_REQUIRED = ("from", "date", "subject")
MAX_FIELD_CHARS = 1_000
"""Of a field that is parsed, in time that grows with the square of it."""


def _parse_field(name: str, value: str) -> Any:
    return _FIELDS(name, value[:MAX_FIELD_CHARS])


_FIELDS = HeaderRegistry()
_POLICY = policy.default.clone(header_factory=_parse_field)


def is_mail(file: TextFile) -> bool:
    """Tell whether a text begins with the fields that a mail has."""
    match = _HEADER.match(file.text[:MAX_HEADER_CHARS].replace("\r\n", "\n"))
    names = {line.partition(":")[0].casefold() for line in match[0].splitlines()} if match else ()
    return all(name in names for name in _REQUIRED)


def is_mailbox(file: TextFile) -> bool:
    """Tell whether a text is mails, each below a line that begins with `From ` and ends with a year."""
    text = file.text.lstrip()
    mark = _POSTMARK.match(text)
    return mark is not None and is_mail(TextFile(name=file.name, text=text[mark.end() :]))


def read_mailbox(file: TextFile) -> Contents:
    """Read each mail of a mailbox; one without a text is left out. Raises UnreadableFile."""
    drafts: list[Draft] = []
    left_out: list[LeftOut] = []
    for text in filter(str.strip, _POSTMARK.split(file.text)):
        mail = TextFile(name=file.name, text=_QUOTED_FROM.sub("", text))
        try:
            contents = read_mail(mail)
        except UnreadableFile as refusal:
            left_out.append(
                LeftOut(title=_find_field(_parse(mail), "subject"), reason=str(refusal))
            )
            continue
        drafts += contents.conversations
        left_out += contents.left_out
    if not drafts:
        raise UnreadableFile("it is a mailbox in which no mail has a text")
    return Contents(conversations=drafts, left_out=left_out)


def read_mail(file: TextFile) -> Contents:
    """Read a mail: each paragraph is said by its sender. Raises UnreadableFile."""
    mail = _parse(file)
    text, page_quoted = _read_body(mail)
    words, quoted = _divide_quotations(text.splitlines())
    sender = _find_sender(mail)
    turns = [
        Turn(text=paragraph.strip(), speaker=sender)
        for paragraph in re.split(r"\n\s*\n", "\n".join(words))
        if paragraph.strip()
    ]
    if not turns:
        raise UnreadableFile("it is a mail without a text")
    return Contents(
        conversations=[
            Draft(turns=turns, title=_find_field(mail, "subject"), started_at=_find_date(mail))
        ],
        left_out=[*count_unread_lines([*quoted, *page_quoted], ""), *_count_attached(mail)],
    )


def _divide_quotations(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what the sender wrote, and what it quotes of others, with the line above that says of whom.

    A mail that holds nothing else is what it quotes.
    """
    quoted = {at for at, line in enumerate(lines) if line.startswith(">")}
    for at in sorted(quoted):
        above = next((n for n in range(at - 1, -1, -1) if lines[n].strip()), at)
        if above not in quoted and lines[above].rstrip().endswith(":"):
            quoted.add(above)
    own = [line for at, line in enumerate(lines) if at not in quoted]
    return (
        (own, [lines[at] for at in sorted(quoted)]) if any(map(str.strip, own)) else ([*lines], [])
    )


def _count_attached(mail: EmailMessage) -> Iterator[LeftOut]:
    """Name the attachments, which are not read, with the words of those that are text or mails."""
    for part in mail.iter_attachments():
        content = part.get_content() if part.get_content_type() == FORWARDED else None
        if isinstance(content, EmailMessage):
            title, text = _find_field(content, "subject"), _read_body(content)[0]
        else:
            title, text = part.get_filename() or "", _read_attached(part)
        words = len(text.split())
        counted = f"{words} words of an attachment are" if words else "an attachment is"
        if words or title:
            yield LeftOut(title=title, reason=f"{counted} not read", words=words)


def _read_attached(part: MIMEPart) -> str:
    content = part.get_payload(decode=True)
    if part.get_content_maintype() != "text" or not isinstance(content, bytes):
        return ""
    return content.decode(errors="replace")


def _parse(file: TextFile) -> EmailMessage:
    return message_from_string(file.text.lstrip(), EmailMessage, policy=_POLICY)


def _read_body(mail: EmailMessage) -> tuple[str, list[str]]:
    """Return the plain text, or else that of the page, and the lines that the page quotes of others.

    One that is not encoded was decoded with the file, whatever it claims.
    """
    body = mail.get_body(("plain", "html"))
    if body is None:
        return "", []
    is_encoded = str(body["content-transfer-encoding"]).casefold() in ENCODED
    text = _decode(body) if is_encoded else str(body.get_payload())
    return _divide_page(text) if body.get_content_subtype() == "html" else (text, [])


def _divide_page(html: str) -> tuple[str, list[str]]:
    """Return what a page says and the lines that it quotes, where it says anything else."""
    root = parse_html(html.encode(), "utf-8")
    if root is None:
        return "", []
    whole = read_element(root)
    quotations = root.xpath(_QUOTATIONS)
    lines = [line for element in quotations for line in read_element(element).splitlines()]
    for element in quotations:
        element.clear(keep_tail=True)
    own = read_element(root)
    return (own, lines) if own else (whole, [])


def _decode(body: MIMEPart) -> str:
    """Decode a text by the charset that it names, or as files are where nobody knows that. Raises UnreadableFile."""
    try:
        return str(body.get_content())
    except LookupError:
        payload = body.get_payload(decode=True)
        return decode(payload) if isinstance(payload, bytes) else ""


def _find_field(mail: EmailMessage, name: str) -> str:
    """Return a field of the header; empty where it is not there, or what stands in it makes no sense."""
    with suppress(*SENSELESS_FIELD):
        return str(mail[name] or "").strip()
    return ""


def _find_sender(mail: EmailMessage) -> str:
    """Return the name of who wrote it, or else the address."""
    with suppress(*SENSELESS_FIELD):
        addresses = getattr(mail["from"], "addresses", ())
        return next((a.display_name or a.addr_spec for a in addresses), _find_field(mail, "from"))
    return ""


def _find_date(mail: EmailMessage) -> datetime | None:
    with suppress(ValueError):
        return parsedate_to_datetime(_find_field(mail, "date"))
    return None
