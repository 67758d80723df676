"""JSON files: exports of conversations, Telegram's chats, and the output of transcribers."""

import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from functions.imports.formats.chats import Message, build_chat
from functions.imports.formats.drafts import Contents, Draft, Turn, is_owner_name
from functions.imports.formats.exported_collections import (
    is_whole_export,
    read_collections,
)
from functions.imports.formats.json_fields import (
    Fields,
    find_number,
    find_text,
    find_time,
    list_objects,
)
from functions.imports.formats.restored_conversations import is_exported
from functions.imports.formats.spoken_lists import read_spoken_lists
from shared.library.decoding import UnreadableFile

_SURROGATE = re.compile(r"\\u[Dd][89A-Fa-f]")

CHAT_LISTS = ("chats", "left_chats")
"""Where an export of a whole account of Telegram has chats."""


def read_json(name: str, text: str) -> Contents:
    """Read a JSON file; `name` is the file's, without suffix. Raises UnreadableFile."""
    try:
        content = _parse(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise UnreadableFile(f"its JSON is broken at {place}") from error
    except RecursionError as error:
        raise UnreadableFile("its JSON is nested too deeply") from error
    contents = _read_telegram(content) or _read_export(content) or read_spoken_lists(name, content)
    if contents is None:
        raise UnreadableFile("it holds neither conversations nor segments")
    return contents


def _parse(text: str) -> Any:
    """Parse JSON; an escaped half of a character, which no store takes, becomes a question mark."""
    content = json.loads(text)
    if not _SURROGATE.search(text):
        return content
    return json.loads(json.dumps(content, ensure_ascii=False).encode(errors="replace"))


# --- exports of conversations, by Omi and by us


def _read_export(content: Any) -> Contents | None:
    fields = content if isinstance(content, dict) else {"conversations": content}
    items = fields.get("conversations", [fields] if "transcript_segments" in fields else [])
    listed = list_objects(items)
    restored = [item for item in listed if is_exported(item)]
    conversations = [item for item in listed if _has_segments(item) and not is_exported(item)]
    memories, action_items, people = (
        list_objects(fields.get(name)) for name in ("memories", "action_items", "people")
    )
    whole = read_collections(fields) if is_whole_export(fields) else Contents()
    if not (conversations or restored or memories or action_items or people or whole.records):
        return None
    return Contents(
        conversations=[_read_conversation(item) for item in conversations],
        memories=memories,
        action_items=action_items,
        people=people,
        restored=restored,
        records=whole.records,
        left=whole.left,
    )


def _has_segments(item: Fields) -> bool:
    return bool(list_objects(item.get("transcript_segments")))


def _read_conversation(item: Fields) -> Draft:
    structured = item.get("structured")
    title = structured.get("title") if isinstance(structured, dict) else None
    names = ("id", "finished_at", "source", "language", "structured")
    return Draft(
        turns=[_read_segment(segment) for segment in list_objects(item["transcript_segments"])],
        title=title if isinstance(title, str) else "",
        started_at=find_time(item, ("started_at", "created_at")),
        fields={name: item[name] for name in names if item.get(name) is not None},
    )


def _read_segment(item: Fields) -> Turn:
    speaker = find_text(item, ("speaker_name", "speaker")) or ""
    return Turn(
        text=find_text(item, ("text",)) or "",
        speaker=speaker,
        start=find_number(item, ("start",)),
        end=find_number(item, ("end",)),
        is_user=bool(item.get("is_user")) or is_owner_name(speaker),
    )


# --- Telegram


def _read_telegram(content: Any) -> Contents | None:
    if not isinstance(content, dict):
        return None
    parts = [part for name in CHAT_LISTS if isinstance(part := content.get(name), dict)]
    listed = [chat for part in parts for chat in list_objects(part.get("list"))] or [content]
    telegram_chats = [chat for chat in listed if _is_telegram_chat(chat)]
    if not telegram_chats:
        return None
    owner = _find_telegram_owner(content)
    drafts = [_read_telegram_chat(chat, owner) for chat in telegram_chats]
    return Contents(conversations=list(chain.from_iterable(drafts)))


def _is_telegram_chat(chat: Fields) -> bool:
    return any(
        "date" in message and "text" in message for message in list_objects(chat.get("messages"))
    )


def _find_telegram_owner(content: Fields) -> str | None:
    person = content.get("personal_information")
    if not isinstance(person, dict):
        return None
    names = (find_text(person, (name,)) for name in ("first_name", "last_name"))
    return " ".join(filter(None, names))


def _read_telegram_chat(chat: Fields, owner: str | None) -> Iterator[Draft]:
    messages = [
        Message(at=at, speaker=str(item.get("from") or ""), text=text)
        for item in list_objects(chat["messages"])
        if item.get("type", "message") == "message"
        and (text := _flatten(item.get("text", "")).strip())
        and (at := find_time(item, ("date_unixtime", "date")))
    ]
    title = chat.get("name")
    return build_chat(messages, title=title if isinstance(title, str) else "", owner=owner)


def _flatten(text: Any) -> str:
    """Return a message's text, which is a list where parts of it are marked."""
    return "".join(map(_read_part, text if isinstance(text, list) else [text]))


def _read_part(part: Any) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else ""
