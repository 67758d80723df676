"""Erasure of an account: the request and its progress."""

import hashlib
from datetime import datetime, timedelta
from typing import Literal

from shared.domain.ids import UserId
from shared.domain.value import value

ERASURE_TTL = timedelta(days=30)


@value
class Erasure:
    """The state of an erasure.

    `documents` counts what was deleted so far. The id is a hash and does not name the user; times
    in UTC. Data written after `done_at` is new and stays.
    """

    id: str
    status: Literal["running", "done"]
    requested_at: datetime
    expires_at: datetime
    documents: int = 0
    done_at: datetime | None = None


def build_erasure_id(uid: UserId) -> str:
    return hashlib.sha256(f"erasure of {uid}".encode()).hexdigest()[:32]
