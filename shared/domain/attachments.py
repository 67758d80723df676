"""Attachments of a conversation: the photos taken during it, its place, and texts of summary apps."""

import math
from dataclasses import replace
from datetime import datetime
from typing import Self

from shared.domain.ids import AppId
from shared.domain.value import value

_FIELD_BYTES = 400
"""What the names of a photo's fields, its time and its path take up at most."""


@value
class Photo:
    """A picture taken during a conversation; `base64` is its file, as the device sent it."""

    id: str | None = None
    base64: str | None = None
    description: str | None = None
    created_at: datetime | None = None
    discarded: bool = False

    def count_stored_bytes(self) -> int:
        """Count the bytes that it takes up at most, with the names of its fields."""
        texts = (self.id, self.base64, self.description)
        return _FIELD_BYTES + sum(len(text.encode()) for text in texts if text)


@value
class Geolocation:
    """A place: degrees, and metres for `altitude` and `accuracy`; `time` is when it was measured."""

    latitude: float | None = None
    longitude: float | None = None
    altitude: float | None = None
    accuracy: float | None = None
    google_place_id: str | None = None
    address: str | None = None
    location_type: str | None = None
    time: datetime | None = None

    def __post_init__(self) -> None:
        numbers = (self.latitude, self.longitude, self.altitude, self.accuracy)
        if not all(number is None or math.isfinite(number) for number in numbers):
            raise ValueError("a place lies somewhere")

    def with_time(self, now: datetime) -> Self:
        """Return it with the time of its measurement, `now` where that is unknown or still to come."""
        return replace(self, time=min(self.time or now, now))


@value
class AppResult:
    """What a summary app made of a conversation."""

    content: str
    app_id: AppId | None = None
