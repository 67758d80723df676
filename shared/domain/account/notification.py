"""Notification of an app, and the progress of its delivery."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta
from typing import Literal, NewType

from shared.domain.ids import AppId
from shared.domain.value import value

NotificationId = NewType("NotificationId", str)
DigestId = NewType("DigestId", str)
APP_POST = "plugin"
"""The wire's type of a notification that an app posted."""
State = Literal["accepted", "held", "sent", "failed", "read"]


@value
class Delivery:
    """The progress of a push.

    `reached` are the devices that need no further attempt. `sent_at` is when nothing was left to
    do, also where nothing was to be pushed; `failed_at` when it was given up, and `failure` why: a
    vendor's code, never content.
    """

    reached: tuple[str, ...] = ()
    attempts: int = 0
    sent_at: datetime | None = None
    failed_at: datetime | None = None
    failure: str | None = None

    @property
    def is_over(self) -> bool:
        return self.sent_at is not None or self.failed_at is not None


@value
class Notification:
    """One notification; its id is that of its chat message, where there is one.

    `body` is not shortened. `data` goes along with a push, all strings. It is in the inbox from
    `delivered_at` on. `held_until` is the end of the quiet hours that defer its push. One without a
    title is data for the mobile app, and shown to nobody.
    """

    id: NotificationId
    app_id: AppId
    title: str
    body: str
    created_at: datetime
    data: Mapping[str, str] = field(default_factory=dict)
    delivered_at: datetime | None = None
    held_until: datetime | None = None
    read_at: datetime | None = None
    delivery: Delivery = field(default_factory=Delivery)

    @property
    def is_app_post(self) -> bool:
        """Tell whether an app wrote it; the others are ours."""
        return self.data.get("notification_type") == APP_POST

    @property
    def is_data(self) -> bool:
        return not self.title

    @property
    def read(self) -> bool:
        return self.read_at is not None

    @property
    def state(self) -> State:
        """Return what the app may know: the delivery, and nothing of the user's preferences."""
        if self.read_at:
            return "read"
        if self.delivery.sent_at:
            return "sent"
        if self.delivery.failed_at:
            return "failed"
        return "held" if self.held_until else "accepted"


DIGEST_TTL = timedelta(days=30)


@value
class Digest:
    """A digest.

    The notifications deferred until `due_at`, as one push. A closed one takes no more.
    """

    id: DigestId
    due_at: datetime
    expires_at: datetime
    closed: bool = False
    delivery: Delivery = field(default_factory=Delivery)


def build_digest(due_at: datetime) -> Digest:
    return Digest(id=build_digest_id(due_at), due_at=due_at, expires_at=due_at + DIGEST_TTL)


def build_digest_id(due_at: datetime) -> DigestId:
    return DigestId(f"digest-{due_at:%Y%m%dT%H%M%SZ}")
