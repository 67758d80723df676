"""What we know of the owner besides their words."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """`time_zone` is an IANA name; every date the owner sees follows it. `language` is ISO 639-1."""

    name: str = ""
    time_zone: str = "UTC"
    language: str = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Somewhere a push can arrive; its id is `{platform}_{device hash}`."""

    id: str
    fcm_token: str
    time_zone: str
    updated_at: datetime
