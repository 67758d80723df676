"""The place of a user: where they were last, and who may know it."""

from datetime import datetime, timedelta

from shared.domain.attachments import Geolocation
from shared.domain.value import value

PLACE_VALIDITY = timedelta(minutes=30)
"""For so long a phone is taken to be where it was."""


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
