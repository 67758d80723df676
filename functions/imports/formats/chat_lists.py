"""Chat lists: JSON in which each message has its sender and its moment, as programs for chats export it.

The names are those of the programs; their messages may stand newest first.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from datetime import UTC, datetime
from typing import Any

from functions.imports.formats.chats import Message, build_chat
from functions.imports.formats.drafts import Contents, Draft, TextFile
from functions.imports.formats.json_fields import Fields, find_text, find_time, list_objects
from functions.imports.formats.unread import count_unread_fields
from shared.domain.value import value
from shared.integrations.html_text import extract_text

GOOGLE_DATE = "%A, %B %d, %Y at %I:%M:%S %p UTC"
OWNER = "Me"
"""The sender where a program exports its owner's own messages alone."""
TITLE_NAMES = ("title", "threadName", "name", "displayName", "room_name")
LIST_NAMES = ("messages", "MessageList", "value")
_MARKUP = re.compile(r"<[a-zA-Z/][^<>]*>|&#?\w{1,10};")
MIN_SHARE = 0.5
"""The least share of messages that have the names of a form."""


@value
class ChatForm:
    """The names in a message: `senders` are paths, the first that leads to a text counts.

    `spoken` are the values of a field of which another marks a notice. `text` is a path, too. `change`
    makes what people read of the texts of a file.
    """

    senders: Sequence[tuple[str, ...]]
    moment: str
    text: tuple[str, ...]
    spoken: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    change: Callable[[str], str] | None = None


def mend(text: str) -> str:
    """Mend a text whose bytes were written as characters."""
    with suppress(UnicodeError):
        return text.encode("latin-1").decode()
    return text


def read_markup(text: str) -> str:
    return extract_text(text.encode(), "utf-8").text if _MARKUP.search(text) else text


META = ChatForm(
    senders=[("sender_name",)],
    moment="timestamp_ms",
    text=("content",),
    spoken={"call_duration": (None,)},
    change=mend,
)
SEALED_META = ChatForm(
    senders=[("senderName",)],
    moment="timestamp",
    text=("text",),
    spoken={"isUnsent": (False, None)},
)
GOOGLE_CHAT = ChatForm(
    senders=[("creator", "name"), ("creator", "email")], moment="created_date", text=("text",)
)
DISCORD = ChatForm(
    senders=[("author", "nickname"), ("author", "name")],
    moment="timestamp",
    text=("content",),
    spoken={"type": ("Default", "Reply", None)},
)
OWN_DISCORD = ChatForm(senders=(), moment="Timestamp", text=("Contents",))
SKYPE = ChatForm(
    senders=[("displayName",), ("from",)],
    moment="originalarrivaltime",
    text=("content",),
    spoken={"messagetype": ("RichText", "RichText/Html", "Text", None)},
    change=read_markup,
)
TEAMS = ChatForm(
    senders=[("from", "user", "displayName")],
    moment="createdDateTime",
    text=("body", "content"),
    spoken={"messageType": ("message", None)},
    change=read_markup,
)
MATRIX = ChatForm(senders=[("sender",)], moment="origin_server_ts", text=("content", "body"))
FORMS = (META, SEALED_META, GOOGLE_CHAT, DISCORD, OWN_DISCORD, SKYPE, TEAMS, MATRIX)


def is_chat_list(file: TextFile) -> bool:
    return _find_form(file.content) is not None


def read_chat_list(file: TextFile) -> Contents:
    form = _find_form(file.content)
    if form is None:
        return Contents()
    content = _map_texts(file.content, form.change) if form.change else file.content
    owner = find_text(content, ("userId",)) if isinstance(content, dict) else None
    drafts = [draft for chat in _list_chats(content) for draft in _read_chat(chat, form, owner)]
    return Contents(conversations=drafts, left_out=count_unread_fields(content, drafts))


def _list_chats(content: Any) -> list[Any]:
    """List the chats of a file that holds several, or the only one."""
    found = list_objects(content.get("conversations")) if isinstance(content, dict) else []
    return [chat for chat in found if _list_messages(chat)] or [content]


def _read_chat(content: Any, form: ChatForm, owner: str | None) -> Iterator[Draft]:
    messages = sorted(_read_messages(content, form, owner), key=lambda message: message.at)
    return build_chat(messages, title=_find_title(content))


def _find_form(content: Any) -> ChatForm | None:
    items = [item for chat in _list_chats(content) for item in _list_messages(chat)]
    forms = (form for form in FORMS if _fits(items, form))
    return next(forms, None)


def _fits(items: Sequence[Fields], form: ChatForm) -> bool:
    fitting = sum(_has_form(item, form) for item in items)
    return bool(items) and fitting >= MIN_SHARE * len(items)


def _has_form(item: Fields, form: ChatForm) -> bool:
    is_sent = bool(form.senders) or bool(_find_path(item, form.text))
    return is_sent and bool(_find_sender(item, form)) and _find_moment(item, form) is not None


def _list_messages(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, dict):
        return next(filter(None, (list_objects(content.get(name)) for name in LIST_NAMES)), [])
    return list_objects(content)


def _read_messages(content: Any, form: ChatForm, owner: str | None) -> Iterator[Message]:
    for item in _list_messages(content):
        text = _find_path(item, form.text)
        at = _find_moment(item, form)
        is_spoken = all(item.get(name) in found for name, found in form.spoken.items())
        if text.strip() and at and is_spoken:
            sender = _find_sender(item, form)
            yield Message(at=at, speaker=OWNER if sender == owner else sender, text=text.strip())


def _find_sender(item: Fields, form: ChatForm) -> str:
    if not form.senders:
        return OWNER
    return next(filter(None, (_find_path(item, path) for path in form.senders)), "")


def _find_path(item: Fields, path: Sequence[str]) -> str:
    """Return the text to which names lead, or an empty one."""
    found: Any = item
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found.strip() if isinstance(found, str) else ""


def _find_moment(item: Fields, form: ChatForm) -> datetime | None:
    """Return when a message was sent; without a zone it is UTC."""
    at = find_time(item, (form.moment,))
    if at is None and isinstance(written := item.get(form.moment), str):
        with suppress(ValueError):
            at = datetime.strptime(" ".join(written.split()), GOOGLE_DATE).replace(tzinfo=UTC)
    return at if at is None or at.tzinfo else at.replace(tzinfo=UTC)


def _find_title(content: Any) -> str:
    """Return the title of a chat, or the name of its channel."""
    if not isinstance(content, dict):
        return ""
    channel = content.get("channel")
    return find_text(content, TITLE_NAMES) or (
        (find_text(channel, TITLE_NAMES) or "") if isinstance(channel, dict) else ""
    )


def _map_texts(content: Any, change: Callable[[str], str]) -> Any:
    if isinstance(content, dict):
        return {name: _map_texts(item, change) for name, item in content.items()}
    if isinstance(content, list):
        return [_map_texts(item, change) for item in content]
    return change(content) if isinstance(content, str) else content
