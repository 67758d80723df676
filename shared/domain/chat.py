"""Chat messages and chat sessions, as they are stored."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Literal

from shared.domain.ids import AppId, ConversationId, MessageId, SessionId
from shared.domain.value import value

MAIN_SESSION = SessionId("main")

Position = tuple[datetime, MessageId]
"""The position of a message in its session: its time, then its id."""


@value
class Card:
    """A cited conversation as the client shows it."""

    id: ConversationId
    created_at: datetime
    title: str
    emoji: str


@value
class Message:
    """One message.

    `text` of an answer has no citation markers; `cards` are what it cites, in order. `marked_text`
    keeps the `[n]` markers for clients that link them; n is the position in `memories_id`, from 1.
    `diagnostics` are names, counts and times of the turn.
    """

    id: MessageId
    session_id: SessionId
    text: str
    sender: Literal["human", "ai"]
    created_at: datetime
    app_id: AppId | None = None
    type: Literal["text", "day_summary"] = "text"
    from_integration: bool = False
    memories_id: tuple[ConversationId, ...] = ()
    cards: tuple[Card, ...] = ()
    marked_text: str | None = None
    files_id: tuple[str, ...] = ()
    reported: bool = False
    report_reason: str | None = None
    rating: Literal[1, -1] | None = None
    rating_reason: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    diagnostics: Mapping[str, Any] = field(default_factory=dict)

    @property
    def position(self) -> Position:
        return self.created_at, self.id


@value
class Session:
    """A chat.

    There is one main session for each app, whose id is the app's, or `main`. `updated_at` is the
    time of its last message, `preview` the beginning of that message. `title` is empty until the
    user or the first answer sets one. `summary` covers the messages up to `summarised_until`, which
    stay stored; None without a summary.
    """

    id: SessionId
    created_at: datetime
    updated_at: datetime
    app_id: AppId | None = None
    title: str = ""
    starred: bool = False
    message_count: int = 0
    preview: str = ""
    summary: str = ""
    summarised_until: Position | None = None

    @property
    def is_main(self) -> bool:
        """Whether the session begins by itself; the user creates all others."""
        return self.id == build_main_session_id(self.app_id)

    def is_summarised(self, message: Message) -> bool:
        """Tell whether the summary covers this message."""
        return self.summarised_until is not None and message.position <= self.summarised_until


def build_session(
    session_id: SessionId, *, app_id: AppId | None, now: datetime, title: str = ""
) -> Session:
    """Return a chat without messages."""
    return Session(id=session_id, created_at=now, updated_at=now, app_id=app_id, title=title)


def build_main_session_id(app_id: AppId | None) -> SessionId:
    """Name the session that the mobile app means when it names only an app."""
    return SessionId(app_id) if app_id else MAIN_SESSION
