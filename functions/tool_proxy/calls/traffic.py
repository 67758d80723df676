"""What goes out to each app from this instance: a slow or failing one holds up no other."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from shared.domain.breaker import Breaker
from shared.domain.errors import ToolFailed
from shared.domain.ids import AppId
from shared.domain.rate import Rate

MAX_AT_ONCE = 20
"""Calls to one app that wait for it at a time; it is either fast or no place to queue."""
PER_MINUTE = 600
JUDGED_EVERY = timedelta(minutes=10)
MOST_KEPT = 1_000
CROWDED = "This app is slow at the moment and has too many calls to answer. Try again later."
TOO_OFTEN = "This app gets too many calls at the moment. It takes the next in {seconds} s."
RESTING = (
    "This app failed several times in a row and is left alone for half a minute."
    " Say so; a call before then would be refused."
)


class Lane:
    """One app's share of this instance."""

    def __init__(self) -> None:
        self._waiting = 0
        self._rate = Rate(PER_MINUTE, timedelta(minutes=1))
        self._breaker = Breaker()
        self._judged_at: datetime | None = None

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Hold one of the app's places. Raises ToolFailed at once where none is free."""
        if self._waiting >= MAX_AT_ONCE:
            raise ToolFailed(CROWDED)
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    def let_out(self, now: datetime) -> None:
        """Raises ToolFailed for a call that may not go out now."""
        if not self._breaker.admits(now):
            raise ToolFailed(RESTING)
        if wait := self._rate.take(now):
            raise ToolFailed(TOO_OFTEN.format(seconds=-(-wait // timedelta(seconds=1))))

    def heard(self, now: datetime, *, is_down: bool) -> None:
        """Note what a call came back with."""
        if is_down:
            self._breaker.failed(now)
        else:
            self._breaker.succeeded()

    def is_to_be_judged(self, now: datetime) -> bool:
        """Tell, once in a while, that a failing app's record is worth reading."""
        if self._judged_at is not None and now < self._judged_at + JUDGED_EVERY:
            return False
        self._judged_at = now
        return True


class Traffic:
    """The lanes of the apps that were called from this instance, the last MOST_KEPT of them."""

    def __init__(self) -> None:
        self._lanes: dict[AppId, Lane] = {}

    def lane(self, app_id: AppId) -> Lane:
        lane = self._lanes.pop(app_id, None) or Lane()
        self._lanes[app_id] = lane
        if len(self._lanes) > MOST_KEPT:
            del self._lanes[next(iter(self._lanes))]
        return lane
