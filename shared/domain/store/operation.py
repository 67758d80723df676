"""Operation under an idempotency key: one request, however often it is sent."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from shared.domain.errors import Conflict, Invalid
from shared.domain.value import value

OPERATION_TTL = timedelta(hours=24)
LEASE_TTL = timedelta(seconds=60)
"""Longer than any attempt takes; after that the attempt has crashed."""


@value
class StoredResponse:
    """The response as it was sent, byte for byte."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@value
class Operation:
    """A request under an idempotency key.

    `id` is a hash of caller, request and key. `name` is hard to guess and the same on every
    attempt, so that what an attempt creates can be named after it; `begun_at` is when the first one
    began, UTC. Without a response an attempt is in progress until `leased_until`, or has crashed.
    """

    id: str
    name: str
    fingerprint: str
    begun_at: datetime
    leased_until: datetime
    expires_at: datetime
    answer: StoredResponse | None = None

    def build_part(self, number: int) -> "Operation":
        """Return the part of this operation that creates one of several things, by its own name."""
        return replace(self, name=f"{self.name}-{number}")


def build_operation(id_: str, name: str, *, fingerprint: str, now: datetime) -> Operation:
    return Operation(
        id=id_,
        name=name,
        fingerprint=fingerprint,
        begun_at=now,
        leased_until=now + LEASE_TTL,
        expires_at=now + OPERATION_TTL,
    )


def resume_or_reject(stored: Operation | None, attempt: Operation) -> Operation:
    """Return the operation to continue: the stored one, unless it has expired.

    Raises Invalid when the key came with another request, and Conflict while an attempt is in
    progress.
    """
    now = attempt.begun_at
    if stored is None or stored.expires_at <= now or stored.name == attempt.name:
        return attempt  # by this very name: it was stored, and the store's answer got lost
    if stored.fingerprint != attempt.fingerprint:
        raise Invalid("This idempotency key was used for another request.")
    if stored.answer is not None:
        return stored
    if stored.leased_until > now:
        raise Conflict("The first request with this idempotency key is still in progress.")
    return replace(stored, leased_until=attempt.leased_until)
