"""Who works on a conversation, and what may stand in the index for it; pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from shared.domain.errors import Unavailable
from shared.domain.ids import MemoryId
from shared.domain.value import value

LEASE = timedelta(seconds=120)
"""Longer than an attempt goes without a sign of life: a model's call and its repetition."""


LIFE = timedelta(minutes=10)
"""Longer than any attempt lives: the platform ends a request after 540 seconds."""


@value
class Writing:
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
    writing: tuple[Writing, ...] = ()


def is_settled(claim: Claim | None, said: str) -> bool:
    """Tell whether no attempt of this message may have left rows behind."""
    return claim is None or all(one.said != said for one in claim.writing)


def taken(
    before: Claim | None, *, attempt: str, content_hash: str, said: str, now: datetime
) -> Claim:
    """Take over from whoever worked on other content, or is dead. Raises Unavailable otherwise."""
    fresh = Claim(attempt=attempt, content_hash=content_hash, said=said, lease_until=now + LEASE)
    if before is None:
        return fresh
    if before.content_hash == content_hash and before.lease_until > now:
        raise Unavailable("Another attempt is processing this conversation")
    if any(one.said == said and one.until > now for one in before.writing):
        raise Unavailable("Another attempt may still write to the index")
    return replace(
        fresh,
        chunk_count=before.chunk_count,
        memory_ids=before.memory_ids,
        writing=tuple(one for one in before.writing if one.until + LIFE > now),
    )


def writing(claim: Claim, chunk_count: int, memory_ids: Sequence[MemoryId], now: datetime) -> Claim:
    """Announce rows before they are written."""
    until = now + LEASE
    return replace(
        claim,
        lease_until=until,
        chunk_count=max(claim.chunk_count, chunk_count),
        memory_ids=tuple(sorted({*claim.memory_ids, *memory_ids})),
        writing=(*claim.writing, Writing(attempt=claim.attempt, said=claim.said, until=until)),
    )


def settled(claim: Claim, attempt: str, now: datetime) -> Claim:
    """End an attempt whose rows are in place. Those that may still write stay on record."""
    return replace(
        claim,
        lease_until=now,
        writing=tuple(one for one in claim.writing if one.attempt != attempt),
    )


def given_back(stored: Claim | None, mine: Claim, now: datetime) -> Claim:
    """End an attempt that may have left rows behind: its message mends that when it comes again."""
    claim = stored or mine
    left = Writing(attempt=mine.attempt, said=mine.said, until=now)
    return replace(
        claim,
        lease_until=now if claim.attempt == mine.attempt else claim.lease_until,
        writing=(*(one for one in claim.writing if one.attempt != mine.attempt), left),
    )
