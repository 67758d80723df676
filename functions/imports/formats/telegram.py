"""Telegram: the chats of its export as JSON, one or those of a whole account."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from functions.imports.formats.chats import Message, build_chat
from functions.imports.formats.drafts import Contents, Draft, TextFile
from functions.imports.formats.json_fields import Fields, find_text, find_time, list_objects
from functions.imports.formats.unread import count_unread_fields

CHAT_LISTS = ("chats", "left_chats")
"""Where an export of a whole account has chats."""


def is_telegram(file: TextFile) -> bool:
    return bool(_list_chats(file.content))


def read_telegram(file: TextFile) -> Contents:
    owner, chats = _find_owner(file.content), _list_chats(file.content)
    drafts = list(chain.from_iterable(_read_chat(chat, owner) for chat in chats))
    unread = [
        item for chat in chats for item in _list_messages(chat) if not _flatten(item.get("text"))
    ]
    return Contents(conversations=drafts, left_out=count_unread_fields(unread, drafts))


def _list_chats(content: Any) -> list[Fields]:
    if not isinstance(content, dict):
        return []
    parts = [part for name in CHAT_LISTS if isinstance(part := content.get(name), dict)]
    listed = [chat for part in parts for chat in list_objects(part.get("list"))] or [content]
    return [chat for chat in listed if _is_chat(chat)]


def _is_chat(chat: Fields) -> bool:
    return any(
        "date" in message and "text" in message for message in list_objects(chat.get("messages"))
    )


def _find_owner(content: Fields) -> str | None:
    person = content.get("personal_information")
    if not isinstance(person, dict):
        return None
    names = (find_text(person, (name,)) for name in ("first_name", "last_name"))
    return " ".join(filter(None, names))


def _read_chat(chat: Fields, owner: str | None) -> Iterator[Draft]:
    messages = [
        Message(at=at, speaker=find_text(item, ("from", "from_id")) or "", text=text)
        for item in _list_messages(chat)
        if (text := _flatten(item.get("text", "")).strip())
        and (at := find_time(item, ("date_unixtime", "date")))
    ]
    messages.sort(key=lambda message: message.at)
    title = chat.get("name")
    return build_chat(messages, title=title if isinstance(title, str) else "", owner=owner)


def _list_messages(chat: Fields) -> list[dict[str, Any]]:
    """List what people sent; other items tell what happened in the chat."""
    items = list_objects(chat["messages"])
    return [item for item in items if item.get("type", "message") == "message"]


def _flatten(text: Any) -> str:
    """Return a message's text, which is a list where parts of it are marked."""
    return "".join(map(_read_part, text if isinstance(text, list) else [text]))


def _read_part(part: Any) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else ""
