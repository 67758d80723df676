"""Places: where something was, where a user was last, and who may know it.

Also called: geolocation.
"""

import math
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Self

from shared.domain.value import value

PLACE_VALIDITY = timedelta(minutes=30)
"""For so long a phone is taken to be where it was."""


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
class PlaceSharing:
    """The part of a profile that a call of an app's tool reads, and nothing else of its owner.

    `place` is where the owner was last, with its time; the tools of apps are told it only if the owner
    allows that: `is_place_shared`.
    """

    place: Geolocation | None = None
    is_place_shared: bool = False

    def find_place(self, start: datetime, end: datetime) -> Geolocation | None:
        """Return where the owner was between two instants, or shortly before or after."""
        if self.place is None or self.place.time is None:
            return None
        is_near = start - PLACE_VALIDITY <= self.place.time <= end + PLACE_VALIDITY
        return self.place if is_near else None

    def find_shared_place(self, now: datetime) -> Geolocation | None:
        """Return where the owner is, if apps may know and it was measured lately."""
        return self.find_place(now, now) if self.is_place_shared else None
