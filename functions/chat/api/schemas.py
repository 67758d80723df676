"""Request and response bodies of chat, field by field as released apps read them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from shared.data.library_changes import METADATA_FIELD, load_changes
from shared.domain.chat import Message, Session, build_main_session_id
from shared.domain.ids import AppId, RunId, SessionId, UserId
from shared.domain.library_change import LibraryChange
from shared.domain.run import Outcome
from shared.edge.schemas import PageQuery, Wire

MAX_CARDS = 5


def _parse_optional_id(value: str | None) -> str | None:
    """Read `null` and the empty string, which released apps send, as None."""
    return None if value in (None, "", "null") else value


def _reject_offset(offset: int) -> int:
    if offset:
        raise ValueError(
            "offset is not supported: pass the X-Next-Cursor of the last page as cursor"
        )
    return offset


ChosenApp = Annotated[
    str | None, Field(pattern=r"^[A-Za-z0-9_-]{0,64}$"), AfterValidator(_parse_optional_id)
]
ChosenSession = Annotated[str | None, Field(max_length=64), AfterValidator(_parse_optional_id)]
DEFAULT_TITLE = "New Chat"


class ChatQuery(Wire):
    """The chat: `chat_session_id`, else the main chat of an app, else the main chat.

    `app_id` takes precedence over `plugin_id`; beside a session, it must be that session's app.
    """

    app_id: ChosenApp = None
    plugin_id: ChosenApp = None
    chat_session_id: ChosenSession = None

    @property
    def app(self) -> AppId | None:
        chosen = self.app_id or self.plugin_id
        return AppId(chosen) if chosen else None

    @property
    def session(self) -> SessionId | None:
        return SessionId(self.chat_session_id) if self.chat_session_id else None

    @property
    def session_id(self) -> SessionId:
        return self.session or build_main_session_id(self.app)


class SendQuery(ChatQuery):
    """`protocol` selects the format of the stream; without it, released apps can read it."""

    protocol: Literal["ui-message-stream"] | None = None


class SendHeaders(Wire):
    """The key that repeats of one question share; an empty one counts as none."""

    idempotency_key: Annotated[str, Field(alias="Idempotency-Key", max_length=255)] = ""


class ResumeHeaders(Wire):
    """The number of the last event that the client has; an empty one counts as none."""

    last_event_id: Annotated[str, Field(alias="Last-Event-ID", pattern="^[0-9]{0,9}$")] = ""


class ResumeQuery(Wire):
    """`after` is the last event that the client has; the header Last-Event-ID takes precedence."""

    after: Annotated[int, Field(ge=0)] = 0


class StopOut(Wire):
    """`stopping`: the answer ends in a moment. `ended`: it had already ended, with this outcome."""

    status: Literal["stopping", "ended"]
    outcome: Outcome | None = None


class CloseRunIn(Wire):
    """The ids of a run."""

    uid: UserId
    run_id: RunId


class CloseOut(Wire):
    status: Literal["closed"] = "closed"


class MessagesQuery(ChatQuery):
    """`before` is the id of the oldest message that the client has."""

    before: Annotated[str | None, Field(max_length=64)] = None


class PageContextIn(Wire):
    """The page that the user is looking at."""

    type: Literal["conversation", "task", "memory", "recap"]
    id: str | None = None
    title: str | None = None


class SendMessageIn(Wire):
    """Repeats of one question share `client_message_id`, or the header Idempotency-Key."""

    text: str
    client_message_id: Annotated[str | None, Field(min_length=1, max_length=255)] = None
    file_ids: Annotated[list[str] | None, Field(max_length=100)] = None
    context: PageContextIn | None = None


class CardStructuredOut(Wire):
    title: str
    emoji: str


class CardOut(Wire):
    id: str
    created_at: datetime
    structured: CardStructuredOut


class LibraryChangeOut(Wire):
    """A change that an answer made in the library; `text` says it in one line."""

    id: str
    text: str
    state: Literal["done", "undone"]


def to_library_change_out(change: LibraryChange) -> LibraryChangeOut:
    state: Literal["done", "undone"] = "undone" if change.is_undone else "done"
    return LibraryChangeOut(id=change.id, text=change.text, state=state)


class MessageOut(Wire):
    """A message; every field that a released app reads is always present.

    `metadata.changes` lists what an answer changed in the library, as LibraryChangeOut.
    """

    id: str
    text: str
    created_at: datetime
    sender: Literal["ai", "human"]
    app_id: str | None
    plugin_id: str | None
    from_external_integration: bool
    from_integration: bool
    type: Literal["text", "day_summary"]
    memories_id: list[str]
    memories: list[CardOut]
    reported: bool
    report_reason: str | None
    files_id: list[str]
    files: list[Any]
    chat_session_id: str
    rating: Literal[1, -1] | None
    chart_data: dict[str, Any] | None
    ask_for_nps: bool
    metadata: dict[str, Any]


def to_message_out(message: Message) -> MessageOut:
    """Convert a message to the fields that released apps read."""
    metadata = dict(message.metadata)
    if message.marked_text is not None and message.cards:
        metadata["marked_text"] = message.marked_text
    if changes := load_changes(message):
        metadata[METADATA_FIELD] = [to_library_change_out(c).model_dump() for c in changes]
    return MessageOut(
        id=message.id,
        text=message.text,
        created_at=message.created_at,
        sender=message.sender,
        app_id=message.app_id,
        plugin_id=message.app_id,
        from_external_integration=message.from_integration,
        from_integration=message.from_integration,
        type=message.type,
        memories_id=list(message.memories_id),
        memories=[
            CardOut(
                id=card.id,
                created_at=card.created_at,
                structured=CardStructuredOut(title=card.title, emoji=card.emoji),
            )
            for card in message.cards[:MAX_CARDS]
        ],
        reported=message.reported,
        report_reason=message.report_reason,
        files_id=list(message.files_id),
        files=[],
        chat_session_id=message.session_id,
        rating=message.rating,
        chart_data=None,
        ask_for_nps=False,
        metadata=metadata,
    )


def to_message_json(message: Message) -> bytes:
    """Encode a message for the `done` frame."""
    return to_message_out(message).model_dump_json().encode()


class ReportOut(Wire):
    message: str = "Message reported"


class RatingQuery(Wire):
    """`value` is 1 or -1; 0 removes the rating."""

    message_id: str
    value: Annotated[int, Field(ge=-1, le=1)]
    reason: Annotated[str | None, Field(max_length=200)] = None


class ProfileIn(Wire):
    """Fields left out keep their value."""

    name: Annotated[str | None, Field(max_length=200)] = None
    time_zone: str | None = None
    language: Annotated[str | None, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] = None
    retention_days: Annotated[int | None, Field(ge=0, le=3_650)] = None


class ProfileOut(Wire):
    name: str
    time_zone: str
    language: str
    retention_days: int


class FcmTokenIn(Wire):
    fcm_token: Annotated[str, Field(min_length=1, max_length=4_096)]
    time_zone: str


Title = Annotated[str | None, Field(max_length=500)]


class SessionIn(Wire):
    """A new chat; without a title it gets one from its first answer."""

    title: Title = None
    app_id: ChosenApp = None


class SessionChangeIn(Wire):
    """Fields left out keep their value."""

    title: Title = None
    starred: bool | None = None


class SessionsQuery(PageQuery):
    """Filters; those left out match every chat."""

    app_id: ChosenApp = None
    starred: bool | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    offset: Annotated[int, AfterValidator(_reject_offset)] = 0


class SessionOut(Wire):
    """A chat; `preview` is the beginning of its last message."""

    id: str
    title: str
    starred: bool
    app_id: str | None
    plugin_id: str | None
    created_at: datetime
    updated_at: datetime
    message_count: int
    preview: str


def to_session_out(session: Session) -> SessionOut:
    """Convert a chat to the fields that released apps read."""
    return SessionOut(
        id=session.id,
        title=session.title or DEFAULT_TITLE,
        starred=session.starred,
        app_id=session.app_id,
        plugin_id=session.app_id,
        created_at=session.created_at,
        updated_at=session.updated_at,
        message_count=session.message_count,
        preview=session.preview,
    )


class TurnEndedIn(Wire):
    """The event `turn.ended`."""

    uid: str
    session_id: str
    run_id: str
