"""Backups of text messages: the XML of SMS Backup & Restore, a conversation with each number.

Tags are read by a pattern, as in word_text: files of strangers meet no parser of XML.
"""

import html
import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from functions.imports.formats.chats import Message, build_chat
from functions.imports.formats.drafts import Contents, Draft, TextFile
from functions.imports.formats.json_fields import find_time
from shared.domain.value import value

OWNER = "Me"
SENT = "2"
"""The kind of a message that its owner sent."""
TEXT_TYPE = "text/plain"
_ROOT = re.compile(r"\s*(?:<\?[^>]{0,200}\?>\s*|<!--.{0,1000}?-->\s*){0,9}<smses\b", re.DOTALL)
_TAG = re.compile(r"<(?P<name>sms|mms|part)\s(?P<fields>(?:[^<>\"']|\"[^\"]*\"|'[^']*')*+)>")
_FIELD = re.compile(r"(?P<name>\w{1,40})=(?P<mark>[\"'])(?P<text>.*?)(?P=mark)", re.DOTALL)
_PAIR = re.compile(r"&#(?P<high>5[56]\d{3});&#(?P<low>5[67]\d{3});")
"""The halves of one character, such as emoji, which this program writes as two."""


@value
class _Head:
    """A message without its text; `number` is that of the other one."""

    number: str
    name: str
    at: datetime | None
    is_sent: bool


def is_text_backup(file: TextFile) -> bool:
    return bool(_ROOT.match(file.text))


def read_text_backup(file: TextFile) -> Contents:
    """Read the messages with each number, oldest first."""
    chats: dict[str, list[Message]] = {}
    names: dict[str, str] = {}
    for head, text in _list_messages(file.text):
        if head.at and text.strip():
            names.setdefault(head.number, head.name)
            speaker = OWNER if head.is_sent else head.name
            message = Message(at=head.at, speaker=speaker, text=text.strip())
            chats.setdefault(head.number, []).append(message)
    return Contents(conversations=[draft for n in chats for draft in _build(chats[n], names[n])])


def _build(messages: list[Message], title: str) -> Iterator[Draft]:
    return build_chat(sorted(messages, key=lambda message: message.at), title=title)


def _list_messages(text: str) -> Iterator[tuple[_Head, str]]:
    """Yield each message with its text; what was sent with pictures has its text in parts below."""
    head: _Head | None = None
    for tag in _TAG.finditer(text):
        fields = {m["name"]: _unescape(m["text"]) for m in _FIELD.finditer(tag["fields"])}
        if tag["name"] != "part":
            head = _read_head(fields)
        if head and tag["name"] == "sms":
            yield head, fields.get("body", "")
        elif head and tag["name"] == "part" and fields.get("ct") == TEXT_TYPE:
            yield head, fields.get("text", "")


def _read_head(fields: Mapping[str, str]) -> _Head:
    number = fields.get("address", "")
    name = fields.get("contact_name", "")
    return _Head(
        number=number,
        name=number if name.startswith("(") or name in ("", "null") else name,
        at=find_time(fields, ("date",)),
        is_sent=SENT in (fields.get("type"), fields.get("msg_box")),
    )


def _unescape(text: str) -> str:
    return html.unescape(_PAIR.sub(_join_halves, text))


def _join_halves(pair: re.Match[str]) -> str:
    halves = int(pair["high"]).to_bytes(2, "big") + int(pair["low"]).to_bytes(2, "big")
    return halves.decode("utf-16-be", errors="replace")
