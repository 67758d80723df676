"""Chat messages and chat sessions, as they are stored."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Literal

from shared.domain.ids import AppId, ConversationId, MessageId, SessionId
from shared.domain.value import value

MAIN_SESSION = SessionId("main")

Position = tuple[datetime, MessageId]
"""Where a message stands in its session: by time, and by id where times are equal."""


@value
class Card:
    """A cited conversation as the client shows it."""

    id: ConversationId
    created_at: datetime
    title: str
    emoji: str


@value
class Message:
    """One message. `text` of an answer has no citation markers; `cards` are what it cites, in order.

    `marked_text` keeps the `[n]` markers for clients that link them; n is the position in
    `memories_id`, from 1. `diagnostics` tell how an answer came about: names, counts and times.
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
    """A chat. There is one main session per app, whose id is the app's, or `main`.

    `updated_at` is when its last message came, `preview` how that one begins; `title` is empty
    until its owner or its first answer gives one. `summary` stands for the messages up to
    `summarised_until`, which are kept all the same; None while nothing is summarised.
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
        """A main session begins by itself; any other by its owner's wish alone."""
        return self.id == build_main_session_id(self.app_id)

    def is_summarised(self, message: Message) -> bool:
        """Tell whether the summary stands for this message."""
        return self.summarised_until is not None and message.position <= self.summarised_until


def build_session(
    session_id: SessionId, *, app_id: AppId | None, now: datetime, title: str = ""
) -> Session:
    """Return a chat without messages."""
    return Session(id=session_id, created_at=now, updated_at=now, app_id=app_id, title=title)


def build_main_session_id(app_id: AppId | None) -> SessionId:
    """Name the session that the mobile app means when it names only an app."""
    return SessionId(app_id) if app_id else MAIN_SESSION
