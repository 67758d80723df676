"""The chat's HTTP contract, field by field as the app reads it."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from shared.domain.chat import Message
from shared.domain.ids import AppId
from shared.edge.http import Wire

MAX_CARDS = 5


def _some(value: str | None) -> str | None:
    """The app writes `null` and the empty string for "no app"."""
    return None if value in (None, "", "null") else value


ChosenApp = Annotated[str | None, Field(pattern=r"^[A-Za-z0-9_-]{0,64}$"), AfterValidator(_some)]


class ChatQuery(Wire):
    """Which chat: `app_id` beats `plugin_id`; neither means the main chat."""

    app_id: ChosenApp = None
    plugin_id: ChosenApp = None

    @property
    def app(self) -> AppId | None:
        chosen = self.app_id or self.plugin_id
        return AppId(chosen) if chosen else None


class PageContext(Wire):
    """What the owner is looking at."""

    type: Literal["conversation", "task", "memory", "recap"]
    id: str | None = None
    title: str | None = None


class SendMessageRequest(Wire):
    text: str
    file_ids: Annotated[list[str] | None, Field(max_length=100)] = None
    context: PageContext | None = None


class CardStructured(Wire):
    title: str
    emoji: str


class CardOut(Wire):
    id: str
    created_at: datetime
    structured: CardStructured


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


def message_out(message: Message) -> MessageOut:
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
                structured=CardStructured(title=card.title, emoji=card.emoji),
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


def message_json(message: Message) -> bytes:
    """Write a message as the `done` frame carries it."""
    return message_out(message).model_dump_json().encode()


class Reported(Wire):
    message: str = "Message reported"


class Ok(Wire):
    status: str = "ok"


class RatingQuery(Wire):
    """0 takes a rating back."""

    message_id: str
    value: Annotated[int, Field(ge=-1, le=1)]
    reason: Annotated[str | None, Field(max_length=200)] = None


class ProfileBody(Wire):
    """Fields left out keep their value."""

    name: Annotated[str | None, Field(max_length=200)] = None
    time_zone: str | None = None
    language: Annotated[str | None, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] = None


class ProfileOut(Wire):
    name: str
    time_zone: str
    language: str


class FcmTokenBody(Wire):
    fcm_token: Annotated[str, Field(min_length=1, max_length=4_096)]
    time_zone: str


class FcmTokenSaved(Wire):
    """Spelled as the app expects it."""

    status: str = "Ok"
