"""What apps post, and what the owner reads of it: the HTTP contract of notifications."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from shared.domain.ids import UserId
from shared.domain.notification import NotificationId
from shared.edge.http import Wire


class NotificationRequest(Wire):
    """An app's message to a user. All three are required; what misses is named one at a time."""

    aid: str | None = None
    uid: str | None = None
    message: str | None = None


class NotificationQuery(Wire):
    """The same as a query; the app is named in the path."""

    uid: str | None = None
    message: str | None = None


class Done(Wire):
    """It is done."""

    status: Literal["Ok"] = "Ok"


class DeliverRequest(Wire):
    """The ids of a stored notification."""

    uid: UserId
    id: NotificationId


class InboxItem(Wire):
    """A delivered notification."""

    id: NotificationId
    app_id: str
    title: str
    body: str
    created_at: datetime
    delivered_at: datetime
    read: bool


class InboxPage(Wire):
    """Newest first; `next_cursor` continues where this page ends, null at the end."""

    items: list[InboxItem]
    next_cursor: str | None


class InboxQuery(Wire):
    cursor: str | None = None
    limit: int = Field(default=50, ge=1, le=100)
