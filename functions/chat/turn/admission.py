"""Admission of a turn: it takes a slot and one of the day's turns while its context is read."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Any, TypeVar

from functions.chat.deps import ChatDeps
from functions.chat.runs.turn_slots import HeldSlot, take_slot
from shared.domain.errors import KeepsakeError, QuotaExceeded
from shared.domain.ids import RunId, UserId

T = TypeVar("T")


async def load_and_admit(
    deps: ChatDeps,
    uid: UserId,
    run_id: RunId,
    load: Coroutine[Any, Any, T],
    *,
    is_urgent: Callable[[T], bool],
) -> tuple[T, HeldSlot]:
    """Return what `load` returns, and the slot of an admitted turn.

    A refusal of `load` comes first: a repeat of a question that is being answered takes no slot. An
    urgent turn that a quota refuses goes on, with a slot that it does not hold: what was loaded tells. Raises QuotaExceeded, what `load` raises, and Unavailable.
    """
    now = deps.clock.now()
    loaded, slot, turn = await asyncio.gather(
        load,
        take_slot(deps, uid, run_id),
        deps.quotas.take(uid, "turns", now=now),
        return_exceptions=True,
    )
    errors = [error for error in (loaded, slot, turn) if isinstance(error, BaseException)]
    if not errors and isinstance(slot, HeldSlot) and not isinstance(loaded, BaseException):
        return loaded, slot
    with suppress(KeepsakeError):
        if isinstance(slot, HeldSlot):
            await slot.release()
        if turn is None:
            await deps.quotas.give_back(uid, "turns", now=now)
    is_refused = isinstance(errors[0], QuotaExceeded)
    if is_refused and not isinstance(loaded, BaseException) and is_urgent(loaded):
        return loaded, HeldSlot(deps, uid, run_id, None)
    raise errors[0]


@asynccontextmanager
async def withdraw_on_failure(
    deps: ChatDeps, uid: UserId, slot: HeldSlot, now: datetime
) -> AsyncIterator[None]:
    """Free the slot and give the turn back where an admitted question is not answered after all."""
    try:
        yield
    except Exception:
        is_counted = slot.is_held  # an urgent turn beyond a quota was never taken
        with suppress(KeepsakeError):
            await slot.release()
            if is_counted:
                await deps.quotas.give_back(uid, "turns", now=now)
        raise
