"""Mails as files: the header fields of RFC 5322, then the text.

Also called: email import.
"""

import re
from datetime import datetime
from email import message_from_string, policy
from email.message import EmailMessage
from email.utils import parsedate_to_datetime

from functions.imports.formats.drafts import Contents, Draft, TextFile, Turn
from shared.library.decoding import UnreadableFile

_HEADER = re.compile(r"\s*(?:[A-Z][A-Za-z-]{1,40}:[^\n]*\n(?:[ \t][^\n]*\n)*){2,200}\n", re.ASCII)
ENCODED = ("base64", "quoted-printable")
MAX_HEADER_CHARS = 100_000
_REQUIRED = ("from", "date", "subject")


def is_mail(file: TextFile) -> bool:
    """Tell whether a text begins with the fields that a mail has."""
    match = _HEADER.match(file.text[:MAX_HEADER_CHARS].replace("\r\n", "\n"))
    names = {line.partition(":")[0].casefold() for line in match[0].splitlines()} if match else ()
    return all(name in names for name in _REQUIRED)


def read_mail(file: TextFile) -> Contents:
    """Read a mail: each paragraph is said by its sender. Raises UnreadableFile."""
    mail = message_from_string(file.text.lstrip(), EmailMessage, policy=policy.default)
    words = _read_body(mail)
    turns = [
        Turn(text=paragraph.strip(), speaker=_find_sender(mail))
        for paragraph in re.split(r"\n\s*\n", "\n".join(words.splitlines()))
        if paragraph.strip()
    ]
    if not turns:
        raise UnreadableFile("it is a mail without a plain text")
    return Contents(
        conversations=[
            Draft(turns=turns, title=str(mail["subject"]).strip(), started_at=_find_date(mail))
        ]
    )


def _read_body(mail: EmailMessage) -> str:
    """Return the plain text; one that is not encoded was decoded with the file, whatever it claims."""
    body = mail.get_body(("plain",))
    if body is None:
        return ""
    is_encoded = str(body["content-transfer-encoding"]).casefold() in ENCODED
    return str(body.get_content() if is_encoded else body.get_payload())


def _find_sender(mail: EmailMessage) -> str:
    addresses = getattr(mail["from"], "addresses", ())
    return next((a.display_name or a.addr_spec for a in addresses), str(mail["from"]).strip())


def _find_date(mail: EmailMessage) -> datetime | None:
    try:
        return parsedate_to_datetime(str(mail["date"]))
    except ValueError:
        return None
