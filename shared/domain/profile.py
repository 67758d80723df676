"""What we know of the owner besides their words."""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """`time_zone` is an IANA name; every date the owner sees follows it. `language` is ISO 639-1."""

    name: str = ""
    time_zone: str = "UTC"
    language: str = "en"

    @property
    def zone(self) -> ZoneInfo:
        """The owner's time zone; UTC where its name is none that is known here."""
        try:
            return ZoneInfo(self.time_zone)
        except (KeyError, ValueError, OSError):
            return ZoneInfo("UTC")


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Somewhere a push can arrive; its id is `{platform}_{device hash}`."""

    id: str
    fcm_token: str
    time_zone: str
    updated_at: datetime
