"""The chat's HTTP contract, field by field as the app reads it."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from shared.domain.chat import Message, Session, build_main_session_id
from shared.domain.ids import AppId, RunId, SessionId, UserId
from shared.domain.run import Outcome
from shared.edge.schemas import PageQuery, Wire

MAX_CARDS = 5


def _parse_optional_id(value: str | None) -> str | None:
    """The app writes `null` and the empty string for "no app"."""
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
    """Which chat: `chat_session_id`, or an app's main one, or the main chat.

    `app_id` beats `plugin_id`; beside a session, it must be that session's.
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
    """`protocol` is how the answer streams; without it, as released apps read it."""

    protocol: Literal["ui-message-stream"] | None = None


class SendHeaders(Wire):
    """What marks repeats of one question; an empty one marks nothing."""

    idempotency_key: Annotated[str, Field(alias="Idempotency-Key", max_length=255)] = ""


class ResumeHeaders(Wire):
    """The number of the last event the client has; an empty one says nothing."""

    last_event_id: Annotated[str, Field(alias="Last-Event-ID", pattern="^[0-9]{0,9}$")] = ""


class ResumeQuery(Wire):
    """`after` is the number of the last event the client has; the header Last-Event-ID beats it."""

    after: Annotated[int, Field(ge=0)] = 0


class StopOut(Wire):
    """`stopping`: the answer ends in a moment. `ended`: it had ended before, with this outcome."""

    status: Literal["stopping", "ended"]
    outcome: Outcome | None = None


class CloseRunIn(Wire):
    """The ids of a run."""

    uid: UserId
    run_id: RunId


class CloseOut(Wire):
    status: Literal["closed"] = "closed"


class MessagesQuery(ChatQuery):
    """`before` is the id of the oldest message that the caller has."""

    before: Annotated[str | None, Field(max_length=64)] = None


class PageContextIn(Wire):
    """What the owner is looking at."""

    type: Literal["conversation", "task", "memory", "recap"]
    id: str | None = None
    title: str | None = None


class SendMessageIn(Wire):
    """`client_message_id` marks repeats of one question, as the header Idempotency-Key does."""

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


class MessageOut(Wire):
    """A message; every field that some released client reads is always there."""

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
    """Write a message as the app reads it."""
    metadata = dict(message.metadata)
    if message.marked_text is not None and message.cards:
        metadata["marked_text"] = message.marked_text
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
    """Write a message as the `done` frame carries it."""
    return to_message_out(message).model_dump_json().encode()


class ReportOut(Wire):
    message: str = "Message reported"


class RatingQuery(Wire):
    """0 takes a rating back."""

    message_id: str
    value: Annotated[int, Field(ge=-1, le=1)]
    reason: Annotated[str | None, Field(max_length=200)] = None


class ProfileIn(Wire):
    """Fields left out keep their value."""

    name: Annotated[str | None, Field(max_length=200)] = None
    time_zone: str | None = None
    language: Annotated[str | None, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] = None


class ProfileOut(Wire):
    name: str
    time_zone: str
    language: str


class FcmTokenIn(Wire):
    fcm_token: Annotated[str, Field(min_length=1, max_length=4_096)]
    time_zone: str


Title = Annotated[str | None, Field(max_length=500)]


class SessionIn(Wire):
    """A chat without a title gets one from its first answer."""

    title: Title = None
    app_id: ChosenApp = None


class SessionChangeIn(Wire):
    """Fields left out keep their value."""

    title: Title = None
    starred: bool | None = None


class SessionsQuery(PageQuery):
    """Filters that are left out let everything through."""

    app_id: ChosenApp = None
    starred: bool | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    offset: Annotated[int, AfterValidator(_reject_offset)] = 0


class SessionOut(Wire):
    """A chat; `preview` is how its last message begins."""

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
    """Write a chat as the app reads it."""
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
    """What `turn.ended` carries."""

    uid: str
    session_id: str
    run_id: str
