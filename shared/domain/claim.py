"""Claim of a conversation: the attempt that processes it, and the rows the index may hold; pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from shared.domain.errors import Unavailable
from shared.domain.ids import MemoryId
from shared.domain.value import value

LEASE_TTL = timedelta(seconds=120)
"""Longer than an attempt goes without a sign of life: a model's call and its repetition."""


MAX_ATTEMPT_LIFETIME = timedelta(minutes=10)
"""Longer than any attempt lives: the platform ends a request after 540 seconds."""


@value
class WriteLease:
    """An attempt that may write to the index until then, and died if it said nothing since."""

    attempt: str
    said: str
    until: datetime


@value
class Claim:
    """Stands beside a conversation and outlives it for as long as somebody may write its rows.

    `attempt` is the fencing token: a new one each time. `said` is the content hash of the message
    that led to the attempt, empty for a deletion: it names the message when it comes again. At most
    `chunk_count` chunks and these memories stand in the index.
    """

    attempt: str
    content_hash: str
    said: str
    lease_until: datetime
    chunk_count: int = 0
    memory_ids: tuple[MemoryId, ...] = ()
    writing: tuple[WriteLease, ...] = ()


def has_no_writer(claim: Claim | None, message_hash: str) -> bool:
    """Tell whether no attempt of this message may have left rows behind."""
    return claim is None or all(lease.said != message_hash for lease in claim.writing)


def acquire(
    previous: Claim | None, *, attempt: str, content_hash: str, message_hash: str, now: datetime
) -> Claim:
    """Take over from whoever worked on other content, or is dead. Raises Unavailable otherwise."""
    new_claim = Claim(
        attempt=attempt, content_hash=content_hash, said=message_hash, lease_until=now + LEASE_TTL
    )
    if previous is None:
        return new_claim
    if previous.content_hash == content_hash and previous.lease_until > now:
        raise Unavailable("Another attempt is processing this conversation")
    if any(one.said == message_hash and one.until > now for one in previous.writing):
        raise Unavailable("Another attempt may still write to the index")
    return replace(
        new_claim,
        chunk_count=previous.chunk_count,
        memory_ids=previous.memory_ids,
        writing=tuple(one for one in previous.writing if one.until + MAX_ATTEMPT_LIFETIME > now),
    )


def add_write_lease(
    claim: Claim, chunk_count: int, memory_ids: Sequence[MemoryId], now: datetime
) -> Claim:
    """Announce rows before they are written."""
    until = now + LEASE_TTL
    return replace(
        claim,
        lease_until=until,
        chunk_count=max(claim.chunk_count, chunk_count),
        memory_ids=tuple(sorted({*claim.memory_ids, *memory_ids})),
        writing=(*claim.writing, WriteLease(attempt=claim.attempt, said=claim.said, until=until)),
    )


def finish(claim: Claim, attempt: str, now: datetime) -> Claim:
    """End an attempt whose rows are in place. Those that may still write stay on record."""
    return replace(
        claim,
        lease_until=now,
        writing=tuple(lease for lease in claim.writing if lease.attempt != attempt),
    )


def release(stored: Claim | None, own_claim: Claim, now: datetime) -> Claim:
    """End an attempt that may have left rows behind: its message mends that when it comes again."""
    claim = stored or own_claim
    own_lease = WriteLease(attempt=own_claim.attempt, said=own_claim.said, until=now)
    return replace(
        claim,
        lease_until=now if claim.attempt == own_claim.attempt else claim.lease_until,
        writing=(
            *(lease for lease in claim.writing if lease.attempt != own_claim.attempt),
            own_lease,
        ),
    )
