"""Erasure of an account: the request, its progress, and which tokens and work it refuses."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from shared.domain.ids import UserId
from shared.domain.value import value

ERASURE_TTL = timedelta(days=62)
"""Longer than a token lives that was issued just before the end, even if the erasure takes a month."""
ERASURE_LEASE = timedelta(seconds=20)
"""Longer than one step of an erasure takes."""

TokenCheck = Literal["standard", "revocation", "erasure_request", "erasure_status"]
"""How strictly a valid token is judged.

- standard: it was issued after the user's last erasure, and none is under way
- revocation: and its session was not revoked; where something is exported or allowed
- erasure_request: like revocation, but an erasure under way refuses nothing: its request may be repeated
- erasure_status: signature and expiry alone
"""


@value
class VerifiedToken:
    """A user's token that was verified. `issued_at` is when its session began, in whole seconds."""

    uid: UserId
    issued_at: datetime


@value
class Erasure:
    """The state of an erasure; times in UTC.

    The id is a keyed hash of the user's id. `subject` is that id, sealed, for as long as something
    is left to do. `documents` counts what was deleted so far. `done_at` is a whole second: what
    was issued or began before it is refused, what begins then is new and stays. Before
    `leased_until` it belongs to one attempt.
    """

    id: str
    status: Literal["running", "done"]
    requested_at: datetime
    expires_at: datetime
    subject: str | None
    documents: int = 0
    done_at: datetime | None = None
    attempt: str = ""
    leased_until: datetime | None = None

    def refuses(self, instant: datetime) -> bool:
        """Tell whether a token that was issued or work that began at this instant is refused."""
        return self.done_at is None or instant < self.done_at

    def is_leased(self, now: datetime) -> bool:
        return self.leased_until is not None and now < self.leased_until

    def lease(self, attempt: str, now: datetime) -> "Erasure":
        return replace(self, attempt=attempt, leased_until=now + ERASURE_LEASE)


def round_up_to_second(instant: datetime) -> datetime:
    """Return the first whole second that no token from before `instant` can name.

    Tokens say when they were issued in whole seconds, rounded down.
    """
    return instant.replace(microsecond=0) + timedelta(seconds=1)
