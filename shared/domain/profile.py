"""Profile of a user: name, time zone, language, preferences and devices."""

from dataclasses import field
from datetime import datetime
from zoneinfo import ZoneInfo

from shared.domain.notification_preferences import Preferences
from shared.domain.value import value


@value
class Profile:
    """`time_zone` is an IANA name; every date the owner sees follows it. `language` is ISO 639-1.

    `notifications` is what they want to hear of apps. Transcripts that are older than `retention_days`
    lose their text; 0 keeps them.
    """

    name: str = ""
    time_zone: str = "UTC"
    language: str = "en"
    notifications: Preferences = field(default_factory=Preferences)
    retention_days: int = 0
    retention_set_at: datetime | None = None

    @property
    def zone(self) -> ZoneInfo:
        """The owner's time zone; UTC where its name is none that is known here."""
        try:
            return ZoneInfo(self.time_zone)
        except (KeyError, ValueError, OSError):
            return ZoneInfo("UTC")


@value
class Device:
    """Somewhere a push can arrive; its id is `{platform}_{device hash}`."""

    id: str
    fcm_token: str
    time_zone: str
    updated_at: datetime
