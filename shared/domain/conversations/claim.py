"""Claim of a conversation: the attempt that processes it, and the rows the index may hold; pure."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal
from zlib import crc32

from shared.domain.errors import Unavailable
from shared.domain.failure import Failure
from shared.domain.ids import MemoryId
from shared.domain.quota_day import find_day_end
from shared.domain.value import value

LEASE_TTL = timedelta(seconds=10)
"""How soon an attempt that died is replaced."""
LEASE_EXTENSION_INTERVAL = LEASE_TTL / 3
"""How often a living attempt extends its leases: two extensions may fail."""
MAX_ATTEMPT_LIFETIME = timedelta(minutes=10)
"""Longer than any attempt runs: the platform ends a request after 540 seconds."""
ABANDONED_AFTER = timedelta(minutes=15)
"""Past the last delivery of a message by itself: what is unfinished by then, only the sweep begins again."""
DELETED_HASH = ""
"""The content hash of a deleted conversation."""
FOUND_AFTER = timedelta(minutes=4)
"""How long a change of ours waits for its event; the sweep of the next minute begins with it."""
FIRST_WAIT = timedelta(seconds=5)
LONGEST_WAIT = timedelta(hours=10)
LONGEST_WAIT_FOR_TOKENS = timedelta(minutes=10)
"""Tokens come back by themselves: who waits for them is neither tried before that time nor waked."""
DAY_SPREAD = timedelta(hours=1)
"""The time of a new day over which those begin that wait for it."""
PATIENT_ATTEMPTS = 3
"""How many attempts in a row may end by an outage before the next one waits; a model's outage waits at once."""
SUSPECT_ATTEMPTS = 5
"""From so many attempts in a row that ended without a word, the content is what ends them."""


@value
class WriteLease:
    """The right of an attempt to write to the index until `until`; after that it counts as dead."""

    attempt: str
    said: str
    until: datetime


@value
class Claim:
    """A document beside a conversation that outlives it while an attempt may write its rows.

    `attempt` is the fencing token: a new one each time. `said` is the content hash in the message
    that led to the attempt, empty for a deletion: a redelivery is recognised by it. The index holds at
    most `chunk_count` chunks, and the rows of memories that are stored, that their owner deleted, or that are
    `memory_ids`: removed while another attempt could still write their rows. `outage` is why the last
    attempt ended early, `waits` how often in a row it was because something was away. `attempts` counts those
    in a row that neither ended nor began to wait. At `due_at` the sweep begins an unfinished attempt again;
    None: it ended. `is_first` tells that no attempt came before this one. There had been `wipes` of all
    memories when its content was first read: after another one, what it says is forgotten. One without an `attempt` only
    announces a change.
    """

    attempt: str
    content_hash: str
    said: str
    lease_until: datetime
    chunk_count: int = 0
    memory_ids: tuple[MemoryId, ...] = ()
    writing: tuple[WriteLease, ...] = ()
    outage: Failure | None = None
    waits: int = 0
    attempts: int = 0
    due_at: datetime | None = None
    is_first: bool = False
    wipes: int | None = None

    @property
    def exhausted_budget(self) -> Literal["minute", "day"] | None:
        """The tokens that were used up when the last attempt ended: those of all users for a minute, or of its owner for the day."""
        match self.outage:
            case Failure(reason="busy"):
                return "minute"
            case Failure(reason="day_used_up"):
                return "day"
        return None


def has_no_writer(claim: Claim | None, message_hash: str) -> bool:
    """Tell whether no attempt of this message may have left rows behind."""
    return claim is None or all(lease.said != message_hash for lease in claim.writing)


def announce(previous: Claim | None, content_hash: str, now: datetime) -> Claim:
    """Let the sweep find a change that is stored by us, should its event be lost; what an attempt holds stays as it is."""
    due_at = now + FOUND_AFTER
    if previous is None:
        return Claim(
            attempt="",
            content_hash=content_hash,
            said=content_hash,
            lease_until=now,
            due_at=due_at,
        )
    return replace(previous, said=content_hash, due_at=due_at)


def acquire(
    previous: Claim | None,
    *,
    attempt: str,
    content_hash: str,
    message_hash: str,
    now: datetime,
    wipes: int | None = None,
) -> Claim:
    """Take over from an attempt on other content, or a dead one. Raises Unavailable otherwise.

    There had been `wipes` of all memories before the content was read, if it is.
    """
    until = now + LEASE_TTL
    own_lease = WriteLease(attempt=attempt, said=message_hash, until=until)
    new_claim = Claim(
        attempt=attempt,
        content_hash=content_hash,
        said=message_hash,
        lease_until=until,
        writing=(own_lease,),
        due_at=now + ABANDONED_AFTER,
        attempts=1,
        wipes=wipes,
    )
    if previous is None or not previous.attempt:
        return replace(new_claim, is_first=True)
    _require_free(previous, new_claim, now)
    is_same_content = previous.content_hash == content_hash
    return replace(
        new_claim,
        chunk_count=previous.chunk_count,
        memory_ids=previous.memory_ids,
        outage=previous.outage,
        waits=previous.waits if is_same_content else 0,
        attempts=previous.attempts + 1 if is_same_content else 1,
        wipes=wipes if previous.wipes is None or not is_same_content else previous.wipes,
        writing=(
            *(lease for lease in previous.writing if lease.until + MAX_ATTEMPT_LIFETIME > now),
            own_lease,
        ),
    )


def _require_free(previous: Claim, new_claim: Claim, now: datetime) -> None:
    """Raises Unavailable while another attempt works on the content, or may write rows for its message."""
    if previous.content_hash == new_claim.content_hash and previous.lease_until > now:
        raise Unavailable(
            "Another attempt is processing this conversation",
            retry_after_s=(previous.lease_until - now).total_seconds(),
        )
    ends = [lease.until for lease in previous.writing if lease.said == new_claim.said]
    if ends and max(ends) > now:
        raise Unavailable(
            "Another attempt may still write to the index",
            retry_after_s=(max(ends) - now).total_seconds(),
        )


def record_chunks(claim: Claim, count: int) -> Claim:
    """Record chunks before they are written."""
    return replace(claim, chunk_count=max(claim.chunk_count, count))


def advance(claim: Claim) -> Claim:
    """Count attempts and waits anew: one that got further is cut off because it takes long, not by what it reads."""
    return replace(claim, attempts=min(claim.attempts, 1), waits=0)


def extend(claim: Claim, attempt: str, now: datetime) -> Claim:
    """Extend the leases that an attempt holds; what ended or was taken over stays as it is."""
    until = now + LEASE_TTL
    is_held = claim.attempt == attempt and claim.lease_until > now
    return replace(
        claim,
        lease_until=until if is_held else claim.lease_until,
        writing=tuple(
            replace(lease, until=until) if lease.attempt == attempt and lease.until > now else lease
            for lease in claim.writing
        ),
    )


def finish(claim: Claim, attempt: str, now: datetime) -> Claim:
    """End an attempt whose rows are in place; the write leases of others stay."""
    return replace(
        claim,
        lease_until=now,
        outage=None,
        waits=0,
        attempts=0,
        due_at=None,
        wipes=None,
        writing=tuple(lease for lease in claim.writing if lease.attempt != attempt),
    )


def park(stored: Claim, own_claim: Claim, now: datetime, outage: Failure) -> Claim:
    """End an attempt during an outage; the next begins after a wait that doubles each time."""
    return wait(release(stored, own_claim, now, outage), now)


def wait(claim: Claim, now: datetime) -> Claim:
    """Let the sweep begin the next attempt, after a wait that doubles each time, or on the day that has tokens."""
    longest = LONGEST_WAIT_FOR_TOKENS if claim.exhausted_budget == "minute" else LONGEST_WAIT
    due_at = now + min(FIRST_WAIT * 2 ** min(claim.waits, 20), longest)
    if claim.exhausted_budget == "day":
        due_at = find_day_end(now) + DAY_SPREAD * (crc32(claim.content_hash.encode()) / 2**32)
    return replace(claim, waits=claim.waits + 1, attempts=0, due_at=due_at)


def release(stored: Claim | None, own_claim: Claim, now: datetime, outage: Failure | None) -> Claim:
    """End an attempt that may have left rows behind; the redelivery of its message corrects them."""
    claim = stored or own_claim
    own_lease = WriteLease(attempt=own_claim.attempt, said=own_claim.said, until=now)
    return replace(
        claim,
        lease_until=now if claim.attempt == own_claim.attempt else claim.lease_until,
        outage=outage,
        writing=(
            *(lease for lease in claim.writing if lease.attempt != own_claim.attempt),
            own_lease,
        ),
    )
