"""Admission of model calls: within the provider's tokens a minute, the urgent first, users by fair shares.

Whether somebody is in a crisis is judged at once, whatever waits and however much the instance owes.

Also called: backpressure, load shedding, admission control.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Protocol

import anyio

from shared import telemetry
from shared.domain.errors import ModelBusy, TooMany, Unavailable
from shared.domain.ids import UserId
from shared.domain.models.fair_queue import FairQueue, Ticket
from shared.domain.models.model import Urgency
from shared.domain.models.rate_budget import InstanceBudget
from shared.ports import Clock

LONGEST_WAIT: Mapping[Urgency, timedelta] = {
    "now": timedelta(seconds=10),
    "soon": timedelta(seconds=30),
    "later": timedelta(seconds=30),
}
"""Somebody who reads along prefers an early refusal; what waits longer is parked."""
PATIENCE = timedelta(seconds=5)
"""A user whose call waits longer is not let in with another question."""
RETRY_AFTER_S = 30
SHORT_FOR = timedelta(minutes=1)
"""So long after a call had to wait tokens count as short: the budget is that of a minute."""
POOL_INTERVAL = timedelta(seconds=1)
"""How soon an instance asks the pool again."""
LEASE_TIMEOUT_S = 2.0
"""A pool that answers later counts as away: everybody on the instance waits behind that question."""
_POLL_S = 0.25
_FLOORS: Mapping[Urgency, float] = {"now": 0.0, "soon": 0.25, "later": 0.5}
"""The share of each bucket that is left to what is more urgent."""


class LeaseTokens(Protocol):
    """Leases tokens of the pool that all instances share."""

    async def __call__(
        self, wanted: float, /, *, least: float, first: int, floor: float, now: datetime
    ) -> float:
        """Return how many of the tokens are leased: none where fewer than `least` could be. Raises Unavailable.

        The shard `first` is asked before others, and `floor` is the share of each that stays for others.
        """


class Admission:
    """The calls of one instance. Without pressure nothing is read for a call, and nothing awaited."""

    def __init__(
        self,
        budget: InstanceBudget,
        lease: LeaseTokens,
        clock: Clock,
        *,
        first_shard: int,
        lease_timeout_s: float = LEASE_TIMEOUT_S,
    ) -> None:
        self._budget = budget
        self._lease_tokens = lease
        self._clock = clock
        self._shard = first_shard
        self._lease_timeout_s = lease_timeout_s
        self._queue = FairQueue()
        self._asks_pool_at = budget.leased_until
        self._last_wait_at: datetime | None = None

    async def admit(self, uid: UserId, urgency: Urgency, tokens: int) -> None:
        """Return when a call may be made. Raises ModelBusy where that would take too long."""
        if urgency == "crisis":
            self._admit_at_once(uid, tokens)
        else:
            await self._admit_in_turn(uid, urgency, tokens)

    def check_room(self, uid: UserId) -> None:
        """Raises TooMany for a user whose calls wait for long already; others have their share."""
        since = self._queue.find_longest_wait(uid)
        if since is not None and self._clock.now() - since > PATIENCE:
            raise TooMany(
                "Your other questions still wait, because many people are asking at the moment. "
                f"Please ask again in {RETRY_AFTER_S} seconds.",
                retry_after_s=RETRY_AFTER_S,
            )

    def is_short(self) -> bool:
        """Tell whether a call had to wait lately."""
        last_wait_at, now = self._last_wait_at, self._clock.now()
        return last_wait_at is not None and now - last_wait_at < SHORT_FOR

    def _admit_at_once(self, uid: UserId, tokens: int) -> None:
        self._queue.charge(uid, tokens)
        self._budget = self._budget.use(tokens, self._clock.now())

    async def _admit_in_turn(self, uid: UserId, urgency: Urgency, tokens: int) -> None:
        ticket = self._queue.join(uid, urgency, tokens, self._clock.now())
        try:
            await self._wait(ticket)
        except BaseException:
            self._queue.leave(ticket)
            raise
        self._queue.serve(ticket)

    async def _wait(self, ticket: Ticket) -> None:
        while not (self._queue.is_first(ticket) and await self._take(ticket)):
            if self._clock.now() - ticket.since >= LONGEST_WAIT[ticket.urgency]:
                raise ModelBusy("no tokens are left for now", retry_after_s=RETRY_AFTER_S)
            self._last_wait_at = self._clock.now()
            await self._clock.sleep(_POLL_S)
            telemetry.count(model_wait_ms=round(_POLL_S * 1_000))

    async def _take(self, ticket: Ticket) -> bool:
        """Take the tokens of a call, and lease what is missing."""
        now = self._clock.now()
        if self._take_here(ticket, now):
            return True
        if now < self._asks_pool_at <= now + POOL_INTERVAL:  # later only if the clock was set back
            return False
        self._asks_pool_at = now + POOL_INTERVAL
        with suppress(Unavailable), anyio.move_on_after(self._lease_timeout_s):
            # Without the pool the instance has its own share.
            await self._lease(ticket, now)
        return self._queue.is_first(ticket) and self._take_here(ticket, self._clock.now())

    def _take_here(self, ticket: Ticket, now: datetime) -> bool:
        budget = self._budget.take(ticket.tokens, now, floor=_FLOORS[ticket.urgency])
        if budget is not None:
            self._budget = budget
        return budget is not None

    async def _lease(self, ticket: Ticket, now: datetime) -> None:
        floor = _FLOORS[ticket.urgency]
        missing = self._budget.count_missing(ticket.tokens, now, floor=floor)
        wanted = max(missing, self._budget.smallest_lease)
        self._shard += 1
        leased = await self._lease_tokens(
            wanted, least=missing, first=self._shard, floor=floor, now=now
        )
        self._budget = self._budget.add_lease(leased, now)
