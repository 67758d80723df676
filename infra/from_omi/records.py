"""Records of an export, built from the documents of Omi's own backend; pure.

Names and forms of Omi's fields were read from BasedHardware/omi (backend/database/*.py, backend/models/*.py) of
March to September 2026. A document that holds nothing to take raises Left with the reason.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from shared.data.store.codec import MalformedDocument, dump, load, type_adapter
from shared.data.store.omi_form import is_unreadable
from shared.domain.chats.chart import Chart
from shared.domain.chats.chat import Message, Session, build_main_session_id
from shared.domain.conversations.attachments import Photo
from shared.domain.conversations.conversation import CATEGORIES, Conversation
from shared.domain.conversations.daily_summary import DailySummary
from shared.domain.conversations.folder import DEFAULT_COLOR, Folder
from shared.domain.ids import AppId
from shared.domain.memories.memory import Memory
from shared.domain.people.person import Person
from shared.domain.store.documents import Document
from shared.domain.tasks.action_item import MAX_INDENT_LEVEL, ActionItem
from shared.domain.tasks.goal import MAX_PROGRESS_POINTS, Goal
from shared.library.conversation_schemas import ConversationOut
from shared.library.exported_record import ExportedConversationOut, build_record

Fields = Mapping[str, Any]
ENCRYPTED = "it is encrypted, and cannot be read with this OMI_ENCRYPTION_SECRET"
DELETED = "it was deleted there"
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")
_MEMORY_CATEGORIES = ("interesting", "system", "manual")
_SYSTEM_CATEGORIES = frozenset(
    {"core", "hobbies", "lifestyle", "interests", "skills", "habits", "work", "other", "auto", "learnings"}
)  # fmt: skip
"""Names that Omi gave the category `system` before."""


class Left(Exception):
    """A document that is not taken, and why."""


def build_photo(document: Document) -> Fields:
    _require_text(document.fields, "base64")
    return _take(Photo, document)


def build_conversation(document: Document, photos: Sequence[Fields]) -> Fields:
    """Build the exported form of a conversation with its photos, read as the library reads Omi's documents."""
    if is_unreadable(document.fields):
        raise Left(ENCRYPTED)
    fields = {**document.fields, **({"photos": photos} if photos else {})}
    fields["apps_results"] = [r for r in fields.get("apps_results") or () if r.get("content")]
    try:
        conversation = load(Conversation, replace(document, fields=_drop_nulls(fields)))
    except MalformedDocument as error:
        raise Left(str(error)) from None
    shown = dict(ConversationOut.of(conversation))
    record = build_record(conversation, {}, None)
    exported = ExportedConversationOut.model_construct(**shown, record=record)
    return exported.model_dump(mode="json")


def build_memory(document: Document) -> Fields:
    fields = document.fields
    if fields.get("user_review") is False:
        raise Left("its owner rejected it there")
    _require_text(fields, "content")
    category = fields.get("category")
    if category not in _MEMORY_CATEGORIES:
        category = "system" if category in _SYSTEM_CATEGORIES else "interesting"
    origin = fields.get("conversation_id") or fields.get("memory_id")
    return _take(
        Memory,
        document,
        category=category,
        visibility="public" if fields.get("visibility") == "public" else "private",
        conversation_id=origin if origin != document.id else None,
        valid_to=fields.get("invalid_at"),
        reviewed=fields.get("user_review") is True,
        evidence="",
        seen_in=(),
    )


def build_task(document: Document) -> Fields:
    fields = document.fields
    if fields.get("deleted"):
        raise Left(DELETED)
    indent = min(int(fields.get("indent_level") or 0), MAX_INDENT_LEVEL)
    return _take(ActionItem, document, indent_level=indent, owner="me")


def build_person(document: Document) -> Fields:
    return _take(Person, document)


def find_place(folder: Document) -> int:
    """Return where a folder stands among the others."""
    order = folder.fields.get("order")
    return order if isinstance(order, int) else 0


def build_folder(document: Document) -> Fields:
    fields = document.fields
    category, color = fields.get("category_mapping"), fields.get("color") or ""
    return _take(
        Folder,
        document,
        category_mapping=category if category in CATEGORIES else None,
        color=color if _COLOR.fullmatch(color) else DEFAULT_COLOR,
    )


def build_goal(document: Document, history: Mapping[str, Iterable[Document]]) -> Fields:
    """Build a goal with its progress; `history` holds that of each goal by its id."""
    points = sorted(
        (point.fields["recorded_at"], float(point.fields["value"]))
        for point in history[document.id]
        if point.fields.get("recorded_at") and point.fields.get("value") is not None
    )
    progress = [{"at": at, "value": number} for at, number in points[-MAX_PROGRESS_POINTS:]]
    return _take(Goal, document, progress=progress)


def build_daily_summary(document: Document) -> Fields:
    """Build the summary of a day, whose id is the day."""
    tasks = document.fields.get("action_items")
    return _take(DailySummary, _rename(document, "date"), tasks=tasks)


def build_session(document: Document) -> Fields:
    """Build a chat that has a title; all others are the one chat with the assistant, or with an app."""
    if not document.fields.get("title"):
        raise Left("it has no title: its messages are in the main chat")
    return _take(Session, document, app_id=_find_app(document.fields))


def build_message(document: Document, chats: Collection[str]) -> Fields:
    """Build a message of the chat that it names, where that is one of `chats`, else of its app's main one."""
    fields = document.fields
    if fields.get("deleted"):
        raise Left(DELETED)
    _require_text(fields, "text")
    chat, app_id = fields.get("chat_session_id"), _find_app(fields)
    rating = fields.get("rating")
    return _take(
        Message,
        _rename(document, "id"),
        session_id=chat if chat in chats else build_main_session_id(app_id),
        app_id=app_id,
        from_integration=bool(fields.get("from_external_integration")),
        rating=rating if rating in (1, -1) else None,
        chart=_find_chart(fields),
        **dict.fromkeys(("files", "metadata", "evidence", "embeds"), None),
    )


def build_profile(fields: Fields) -> Fields:
    names = ("name", "time_zone", "language")
    return {name: fields[name] for name in names if isinstance(fields.get(name), str)}


def _rename(document: Document, field: str) -> Document:
    """Return it under the name that a field of it says."""
    name = document.fields.get(field) or document.id
    return replace(document, path=f"{document.path.rpartition('/')[0]}/{name}")


def _find_app(fields: Fields) -> AppId | None:
    return fields.get("app_id") or fields.get("plugin_id") or None


def _find_chart(fields: Fields) -> Any:
    """Return the chart of an answer, unless it is none that we show."""
    try:
        chart: Chart = type_adapter(Chart).validate_python(fields.get("chart_data"))
    except ValidationError:
        return None
    return dump(chart)


def _require_text(fields: Fields, name: str) -> None:
    """What was encrypted and could not be read is None."""
    if fields.get(name) is None:
        raise Left(ENCRYPTED if "data_protection_level" in fields else "it has no words")


def _take(kind: Callable[..., Any], document: Document, **changes: Any) -> Fields:
    """Return a record of ours with the fields of a document that it has, and other ones for some."""
    fields = _drop_nulls({**document.fields, **changes, "id": document.id})
    fields.setdefault("created_at", fields.get("updated_at", EARLIEST))
    fields.setdefault("updated_at", fields["created_at"])
    try:
        return dump(type_adapter(kind).validate_python(fields))
    except ValidationError as error:
        places = {".".join(map(str, each["loc"])) for each in error.errors(include_input=False)}
        raise Left(f"cannot be read: {', '.join(sorted(places))}") from None


def _drop_nulls(fields: Fields) -> dict[str, Any]:
    return {name: found for name, found in fields.items() if found is not None}
