"""Rate budget: a provider's tokens a minute, shared among instances; pure.

A part of it belongs to the instances, so that an instance without pressure asks nobody. The rest is a
pool of shards, from which an instance leases tokens for some seconds. Whatever instances do, and
however often they are replaced, no more than the budget is used in any minute, but for two kinds of calls,
whose instance owes the rest: those larger than LARGEST_CALL of the budget, which are let in for that, and
those that wait for nothing. Half of what an instance leases repays what it owes, so that its other calls
go on; only the next large one waits until nothing is owed. So a minute holds at most the budget, the rest
of such large calls and what waits for nothing; where instances live on, what is owed is made up for.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Self

from shared.domain.models.token_bucket import TokenBucket
from shared.domain.value import value

POOL_SHARDS = 8
"""A document stands about one write a second."""
LEASE = timedelta(seconds=10)
"""How long an instance may use what it leased; a longer lease would leave less to lease."""
LARGEST_CALL = 0.15
"""The part of the budget that one call waits for at most: more may never be free at once."""
_MINUTE = timedelta(minutes=1)
_OWN_SHARE = 0.25
"""The part of the budget that belongs to the instances: what an idle one has is used by nobody."""
_BURST_SHARE = 0.25
"""The part of a minute's tokens that may be used at once."""
_ROUNDING = 1e-6
"""What halves of leases may lack of the sum that was asked for."""
_LEASE_SHARE = 0.005
"""The part of the budget that is leased at least: the next calls need no lease."""


@value
class InstanceBudget:
    """The tokens of one instance: its own bucket, and those that it leased until a time."""

    own: TokenBucket
    largest_call: float
    smallest_lease: float
    leased: float = 0.0
    leased_until: datetime

    def take(self, tokens: float, now: datetime, *, floor: float) -> Self | None:
        """Return the budget after a call, which uses leased tokens first; None where it has too few.

        `floor` is the share of the instance's own bucket that stays for others.
        """
        missing = self.count_missing(tokens, now, floor=floor)
        return None if missing > _ROUNDING else self.use(tokens, now)

    def use(self, tokens: float, now: datetime) -> Self:
        """Return the budget after a call that waits for nothing; what is not here is owed."""
        leased = min(self._get_leased(now), tokens)
        own = self.own.take(tokens - leased, now)
        return replace(self, own=own, leased=self._get_leased(now) - leased)

    def count_missing(self, tokens: float, now: datetime, *, floor: float) -> float:
        """Return how many tokens have to be leased for a call, with what these repay."""
        own, owed = self.own.count_available(now, floor=floor), self._count_owed(now)
        missing = min(tokens, self.largest_call) - self._get_leased(now) - own
        if tokens > self.largest_call:
            return max(0.0, missing + owed)
        return max(0.0, missing + min(missing, owed))

    def add_lease(self, tokens: float, now: datetime) -> Self:
        """Add what was leased no earlier than `now`; up to half of it repays what is owed.

        What was leased before may shorten its time.
        """
        leased = self._get_leased(now)
        until = min(self.leased_until, now + LEASE) if leased else now + LEASE
        repaid = min(tokens / 2, self._count_owed(now))
        own = self.own.take(-repaid, now)
        return replace(self, own=own, leased=leased + tokens - repaid, leased_until=until)

    def _count_owed(self, now: datetime) -> float:
        return max(0.0, -self.own.refill(now).level)

    def _get_leased(self, now: datetime) -> float:
        return self.leased if now < self.leased_until else 0.0


def build_instance_budget(tokens_per_minute: int, instances: int, now: datetime) -> InstanceBudget:
    """Build the budget of one of at most `instances`. It begins empty: it may replace one that used its own."""
    own = _build_bucket(tokens_per_minute * _OWN_SHARE / instances, _MINUTE, now)
    return InstanceBudget(
        own=replace(own, level=0.0),
        largest_call=tokens_per_minute * LARGEST_CALL,
        smallest_lease=tokens_per_minute * _LEASE_SHARE,
        leased_until=now,
    )


def build_shard(tokens_per_minute: int, now: datetime) -> TokenBucket:
    """Build a full shard of the pool; what leaves it is used within a lease."""
    share = tokens_per_minute * (1 - _OWN_SHARE) / POOL_SHARDS
    return _build_bucket(share, _MINUTE + LEASE, now)


def _build_bucket(tokens: float, span: timedelta, now: datetime) -> TokenBucket:
    """Build a bucket that at most so many tokens leave within any `span`."""
    capacity = tokens * _BURST_SHARE
    per_second = (tokens - capacity) / span.total_seconds()
    return TokenBucket(capacity=capacity, per_second=per_second, level=capacity, at=now)


def lease_from(shard: TokenBucket, wanted: float, now: datetime, *, floor: float) -> float:
    """Return how many tokens of a shard may be leased: all there are, at most `wanted`.

    Less than a second's tokens are not worth a write.
    """
    tokens = min(wanted, shard.count_available(now, floor=floor))
    return 0.0 if tokens < min(wanted, shard.per_second) else tokens


def is_worth_leasing(
    tokens: float, least: float, shards: Iterable[TokenBucket], now: datetime
) -> bool:
    """Tell whether `tokens` of these shards serve a call that misses `least`, or are all that it could wait for.

    Fewer would be lost with their lease before the rest has come back.
    """
    return tokens > least - _ROUNDING or all(shard.is_full(now) for shard in shards)
