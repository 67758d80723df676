"""Request and response bodies of receipts, the inbox and the preferences."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator

from shared.domain.account.notification import Notification, NotificationId, State
from shared.domain.account.notification_preferences import MAX_FREQUENCY, QuietHours
from shared.domain.ids import AppId
from shared.edge.declare.common_schemas import PageQuery
from shared.edge.declare.schemas import ID_PATTERN, LOCAL_TIME_PATTERN, Wire


class ReceiptQuery(Wire):
    """The app that asks, and the user whom it notified; both are required."""

    aid: str | None = None
    uid: str | None = None


class ReceiptOut(Wire):
    """The state of a notification. A muted one counts as sent: it is in the inbox."""

    id: NotificationId
    state: State
    accepted_at: datetime
    sent_at: datetime | None
    failed_at: datetime | None
    read_at: datetime | None

    @classmethod
    def of(cls, notification: Notification) -> Self:
        return cls(
            id=notification.id,
            state=notification.state,
            accepted_at=notification.created_at,
            sent_at=notification.delivery.sent_at,
            failed_at=notification.delivery.failed_at,
            read_at=notification.read_at,
        )


class InboxItemOut(Wire):
    """A delivered notification."""

    id: NotificationId
    app_id: str
    title: str
    body: str
    created_at: datetime
    delivered_at: datetime
    read: bool


class InboxPageOut(Wire):
    """A page, newest first; `next_cursor` is null at the end."""

    items: list[InboxItemOut]
    next_cursor: str | None


class InboxQuery(PageQuery):
    limit: int = Field(default=50, ge=1, le=100)


LocalTime = Annotated[str, Field(pattern=LOCAL_TIME_PATTERN)]
AppName = Annotated[AppId, Field(pattern=ID_PATTERN)]


class QuietHoursIn(Wire):
    """Local times in the time zone of the profile; `22:00` to `07:00` crosses midnight."""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    begin: LocalTime = Field(alias="from")
    end: LocalTime = Field(alias="to")

    @model_validator(mode="after")
    def _check_times_differ(self) -> Self:
        if self.begin == self.end:
            raise ValueError("quiet hours must not begin and end at the same time")
        return self


class PreferencesIn(Wire):
    """Fields left out keep their value; null means no quiet hours, or a digest when they end."""

    enabled: bool = True
    muted_apps: Annotated[tuple[AppName, ...], Field(max_length=200)] = ()
    quiet_hours: QuietHoursIn | None = None
    digest: bool = True
    digest_hour: Annotated[int, Field(ge=0, le=23)] | None = None

    def to_changes(self) -> dict[str, Any]:
        changes = {name: getattr(self, name) for name in self.model_fields_set}
        if self.quiet_hours:
            changes["quiet_hours"] = QuietHours(
                begin=self.quiet_hours.begin, end=self.quiet_hours.end
            )
        if "muted_apps" in changes:
            changes["muted_apps"] = tuple(sorted(set(self.muted_apps)))
        return changes


class PreferencesOut(Wire):
    """The user's settings for notifications of apps."""

    enabled: bool
    muted_apps: list[AppId]
    quiet_hours: QuietHoursIn | None
    digest: bool
    digest_hour: int | None


class MentorSettings(Wire):
    """How often apps may push: 0 is never, 5 as often as they like."""

    frequency: Annotated[int, Field(ge=0, le=MAX_FREQUENCY)]


class WebPushKeyOut(Wire):
    """The server's public key, base64url, as a browser's PushManager takes it."""

    key: str
