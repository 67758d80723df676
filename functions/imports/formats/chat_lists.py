"""Chat lists: JSON in which each message has its sender and its moment, as programs for chats export it.

The names are those of the programs; their messages may stand newest first.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from datetime import UTC, datetime
from typing import Any

from functions.imports.formats.chats import Message, build_chat
from functions.imports.formats.drafts import Contents, TextFile
from functions.imports.formats.json_fields import Fields, find_text, find_time, list_objects
from functions.imports.formats.unread import count_unread_fields
from shared.domain.value import value

GOOGLE_DATE = "%A, %B %d, %Y at %I:%M:%S %p UTC"
OWNER = "Me"
"""The sender where a program exports its owner's own messages alone."""
TITLE_NAMES = ("title", "threadName", "name")
MIN_SHARE = 0.5
"""The least share of messages that have the names of a form."""


@value
class ChatForm:
    """The names in a message: `senders` are paths, the first that leads to a text counts.

    `spoken` are the values of a field of which another marks a notice. `is_broken`: UTF-8 was written
    as if each byte were a character.
    """

    senders: Sequence[tuple[str, ...]]
    moment: str
    text: str
    spoken: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    is_broken: bool = False


META = ChatForm(senders=[("sender_name",)], moment="timestamp_ms", text="content", is_broken=True)
SEALED_META = ChatForm(
    senders=[("senderName",)], moment="timestamp", text="text", spoken={"isUnsent": (False, None)}
)
GOOGLE_CHAT = ChatForm(
    senders=[("creator", "name"), ("creator", "email")], moment="created_date", text="text"
)
DISCORD = ChatForm(
    senders=[("author", "nickname"), ("author", "name")],
    moment="timestamp",
    text="content",
    spoken={"type": ("Default", "Reply", None)},
)
OWN_DISCORD = ChatForm(senders=(), moment="Timestamp", text="Contents")
FORMS = (META, SEALED_META, GOOGLE_CHAT, DISCORD, OWN_DISCORD)


def is_chat_list(file: TextFile) -> bool:
    return _find_form(file.content) is not None


def read_chat_list(file: TextFile) -> Contents:
    form = _find_form(file.content)
    if form is None:
        return Contents()
    content = _mend(file.content) if form.is_broken else file.content
    messages = sorted(_read_messages(content, form), key=lambda message: message.at)
    drafts = list(build_chat(messages, title=_find_title(content)))
    return Contents(conversations=drafts, left_out=count_unread_fields(content, drafts))


def _find_form(content: Any) -> ChatForm | None:
    items = _list_messages(content)
    forms = (form for form in FORMS if _fits(items, form))
    return next(forms, None)


def _fits(items: Sequence[Fields], form: ChatForm) -> bool:
    fitting = sum(_has_form(item, form) for item in items)
    return bool(items) and fitting >= MIN_SHARE * len(items)


def _has_form(item: Fields, form: ChatForm) -> bool:
    is_sent = bool(form.senders) or form.text in item
    return is_sent and bool(_find_sender(item, form)) and _find_moment(item, form) is not None


def _list_messages(content: Any) -> list[dict[str, Any]]:
    return list_objects(content.get("messages") if isinstance(content, dict) else content)


def _read_messages(content: Any, form: ChatForm) -> Iterator[Message]:
    for item in _list_messages(content):
        text = find_text(item, (form.text,)) or ""
        at = _find_moment(item, form)
        is_spoken = all(item.get(name) in found for name, found in form.spoken.items())
        if text.strip() and at and is_spoken:
            yield Message(at=at, speaker=_find_sender(item, form), text=text.strip())


def _find_sender(item: Fields, form: ChatForm) -> str:
    if not form.senders:
        return OWNER
    for path in form.senders:
        found: Any = item
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        if isinstance(found, str) and found.strip():
            return found.strip()
    return ""


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


def _mend(content: Any) -> Any:
    """Mend texts and names whose bytes were written as characters."""
    if isinstance(content, dict):
        return {name: _mend(item) for name, item in content.items()}
    if isinstance(content, list):
        return [_mend(item) for item in content]
    if isinstance(content, str):
        with suppress(UnicodeError):
            return content.encode("latin-1").decode()
    return content
