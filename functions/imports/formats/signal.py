"""Signal: its own export of all chats, a JSON object a line, and the text that sigtop writes of one."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

from functions.imports.formats.chats import Message, build_chat
from functions.imports.formats.drafts import Contents, Draft, TextFile
from functions.imports.formats.json_fields import Fields, find_text, find_time, list_objects
from functions.imports.formats.unread import count_unread_fields

OWNER = "Me"
NAME_PARTS = (
    ("nickname", "profileGivenName", "systemGivenName", "e164"),
    ("profileFamilyName", "systemFamilyName"),
)
_FIELD = re.compile(r"(?P<name>[A-Z][a-z]+): (?P<value>.*)")
_TEXT_MARK = re.compile(r"\s*Conversation: .+\n\s*\nFrom: .+\nType: \S+\nSent: ")
_NUMBER = re.compile(r" \(\+?\d+\)$")


def is_signal(file: TextFile) -> bool:
    return any("chatItem" in item for item in list_objects(file.content))


def read_signal(file: TextFile) -> Contents:
    """Read all chats; what is no text of somebody, as a call, is passed over."""
    items = list_objects(file.content)
    people = {str(found.get("id")): _find_name(found) for found in _list_kind(items, "recipient")}
    chats = {str(c.get("id")): people.get(str(c.get("recipientId")), "") for c in _list_kind(items, "chat")}  # fmt: skip
    messages: dict[str, list[Message]] = {}
    unread: list[Fields] = []
    for item in _list_kind(items, "chatItem"):
        text, at = _find_body(item), find_time(item, ("dateSent",))
        if text and at:
            speaker = people.get(str(item.get("authorId"))) or f"Person {item.get('authorId')}"
            said = messages.setdefault(str(item.get("chatId")), [])
            said.append(Message(at=at, speaker=speaker, text=text))
        else:
            unread.append(item)
    drafts = [draft for chat, said in messages.items() for draft in _build(said, chats.get(chat))]
    return Contents(conversations=drafts, left_out=count_unread_fields(unread, drafts))


def _build(said: Sequence[Message], title: str | None) -> Iterator[Draft]:
    return build_chat(sorted(said, key=lambda message: message.at), title=title or "")


def _list_kind(items: Sequence[Fields], kind: str) -> Iterator[Mapping[str, Any]]:
    return (found for item in items if isinstance(found := item.get(kind), dict))


def _find_name(recipient: Fields) -> str:
    """Return the name of a person, or the title of a group; the owner is Me."""
    if "self" in recipient:
        return OWNER
    found = recipient.get("contact")
    contact = found if isinstance(found, dict) else {}
    parts = (find_text(contact, names) for names in NAME_PARTS)
    return " ".join(filter(None, parts)) or _find_deep(recipient, "group", "snapshot", "title")


def _find_body(item: Fields) -> str:
    return _find_deep(item, "standardMessage", "text", "body").strip()


def _find_deep(item: Any, *names: str) -> str:
    """Return the text to which names lead; it may stand in an object as `title`."""
    for name in (*names, "title"):
        item = item.get(name, "") if isinstance(item, dict) else item
    return item if isinstance(item, str) else ""


# --- sigtop


def is_signal_text(file: TextFile) -> bool:
    return bool(_TEXT_MARK.match(file.text))


def read_signal_text(file: TextFile) -> Contents:
    """Read messages, each below fields that say from whom it is and when it was sent."""
    _, title = file.text.lstrip().split("\n", 1)[0].split(": ", 1)
    messages = sorted(_read_messages(file.text.splitlines()), key=lambda message: message.at)
    return Contents(conversations=list(build_chat(messages, title=_NUMBER.sub("", title.strip()))))


def _read_messages(lines: Sequence[str]) -> Iterator[Message]:
    begins = [
        at
        for at, line in enumerate(lines[:-1])
        if line.startswith("From: ") and lines[at + 1].startswith("Type: ")
    ]
    for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
        block = lines[begin:end]
        blank = block.index("") if "" in block else len(block)
        fields = {f["name"]: f["value"] for f in map(_FIELD.fullmatch, block[:blank]) if f}
        text = "\n".join(block[blank:]).strip()
        with suppress(ValueError, KeyError):
            sender = _NUMBER.sub("", fields["From"])
            if text:
                at = parsedate_to_datetime(fields["Sent"])
                yield Message(at=at, speaker=sender, text=text)
