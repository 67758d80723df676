"""Isolated reading: a file is parsed in a process of its own, and its seconds are taken from its owner's day."""

from collections.abc import Callable
from datetime import timedelta
from math import ceil
from typing import TYPE_CHECKING, Protocol, TypeVar

from shared.domain.ids import UserId
from shared.resilience.isolation import (
    LimitReached,
    Limits,
    LongTurnTaken,
    is_read_for_long,
    run_isolated,
)

if TYPE_CHECKING:
    from shared.data.account.quotas import Quotas
    from shared.ports import Clock

T = TypeVar("T")
TURN_WAIT_S = 0.25
TURN_AGAIN = timedelta(seconds=3)
"""When a task comes again that found another file of its owner being read: waiting, it would hold a place of everybody's."""
MAX_POSTPONED = 20
"""How often a slow file comes again, for a minute: then it waits in line, or those that never stop waiting would keep it out."""
LIMIT_PRICE = 10
"""So many times its seconds a file costs that met its limit: it was made for that, or is of no use."""


class ReadingDeps(Protocol):
    """The part of an entry point's dependencies that reading files needs."""

    @property
    def quotas(self) -> "Quotas": ...
    @property
    def clock(self) -> "Clock": ...


def check_long_turn(postponed_count: int) -> None:
    """Raise LongTurnTaken where a file that was tried before would leave again: its content need not be fetched."""
    if 0 < postponed_count < MAX_POSTPONED and is_read_for_long():
        raise LongTurnTaken


async def read_isolated(
    deps: ReadingDeps,
    uid: UserId,
    read: Callable[[], T],
    limits: Limits,
    *,
    postponed_count: int | None = None,
) -> T:
    """Call `read` as run_isolated() does; one second is taken before, what else it took is counted behind it.

    `postponed_count` is of a task, which leaves its place to others so often; who has none waits. Raises QuotaExceeded, LimitReached, LongTurnTaken, and what `read` raises.
    """
    is_slow = bool(postponed_count)
    leaves = postponed_count is not None and postponed_count < MAX_POSTPONED
    await deps.quotas.take(uid, "file_seconds", now=deps.clock.now())
    try:
        content, seconds = await run_isolated(read, limits, uid, is_slow=is_slow, leaves=leaves)
    except LongTurnTaken:
        if is_slow:  # nothing was tried
            await deps.quotas.give_back(uid, "file_seconds", now=deps.clock.now())
        raise
    except LimitReached:
        await _count(deps, uid, LIMIT_PRICE * limits.cpu_s)
        raise
    await _count(deps, uid, seconds)
    return content


async def _count(deps: ReadingDeps, uid: UserId, seconds: float) -> None:
    if (further := ceil(seconds) - 1) > 0:
        await deps.quotas.record(uid, "file_seconds", further, now=deps.clock.now())
