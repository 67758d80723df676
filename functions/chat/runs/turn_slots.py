"""Concurrency limit of a user: a turn takes a slot before its model is called, and frees it.

Also called: semaphore.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol
from zlib import crc32

from functions.chat.runs.lapsed_runs import load_closing_lapsed
from shared.data.chats.turn_slots import MAX_CONCURRENT_TURNS, TurnSlot, slot_path
from shared.data.stores import Stores
from shared.domain.errors import QuotaExceeded, Unavailable
from shared.domain.ids import RunId, UserId
from shared.domain.store.documents import Delete, Write
from shared.ports import Clock

BEGIN_TIMEOUT = timedelta(seconds=60)
"""Longer than a turn takes from its slot to its stored run."""
RETRY_AFTER_S = 5
RETAKE_POLL_S = 0.5


class SlotDeps(Protocol):
    """The part of the function's dependencies that slots need."""

    @property
    def clock(self) -> Clock: ...

    @property
    def stores(self) -> Stores: ...


class HeldSlot:
    """The slot of one turn. It is freed with the answer, and while the turn waits for its owner."""

    def __init__(self, deps: SlotDeps, uid: UserId, run_id: RunId, number: int | None) -> None:
        self._deps = deps
        self._uid = uid
        self._run_id = run_id
        self._number = number

    @property
    def is_held(self) -> bool:
        return self._number is not None

    def build_release_writes(self) -> Sequence[Write]:
        """Return the writes that free the slot together with the end of its run."""
        return [] if self._number is None else [Delete(slot_path(self._uid, self._number))]

    def mark_released(self) -> None:
        """Remember that the slot was freed with the end of its run."""
        self._number = None

    async def release(self) -> None:
        """Free the slot if it is held; where that fails, it is free once the run has ended."""
        number, self._number = self._number, None
        if number is not None:
            await self._deps.stores.turn_slots.release(self._uid, number, self._run_id)

    async def retake(self) -> None:
        """Take a slot again, and wait for one where all are taken."""
        while self._number is None:
            try:
                self._number = await _take_number(self._deps, self._uid, self._run_id)
            except (QuotaExceeded, Unavailable):
                await self._deps.clock.sleep(RETAKE_POLL_S)


async def take_slot(deps: SlotDeps, uid: UserId, run_id: RunId) -> HeldSlot:
    """Raises QuotaExceeded while a user has MAX_CONCURRENT_TURNS turns in progress."""
    return HeldSlot(deps, uid, run_id, await _take_number(deps, uid, run_id))


async def _take_number(deps: SlotDeps, uid: UserId, run_id: RunId) -> int:
    """Try one slot unread, which is free for most; read them all only where it is not."""
    slots, now = deps.stores.turn_slots, deps.clock.now()
    first = crc32(run_id.encode()) % MAX_CONCURRENT_TURNS
    if await slots.take(uid, first, run_id, now=now):
        return first
    for _ in range(2 * MAX_CONCURRENT_TURNS):  # in each round another turn took the slot
        number, abandoned = await _find_free(deps, uid, first)
        if await slots.take(uid, number, run_id, now=now, replacing=abandoned):
            return number
    raise Unavailable("A free slot could not be taken")


async def _find_free(deps: SlotDeps, uid: UserId, first: int) -> tuple[int, TurnSlot | None]:
    """Return a free slot, or else one whose run is gone. Raises QuotaExceeded."""
    slots = await deps.stores.turn_slots.list_all(uid)
    free = [number for number, slot in enumerate(slots) if slot is None]
    if free:
        return free[first % len(free)], None
    for slot in slots:
        if slot is not None and await _is_abandoned(deps, uid, slot):
            return slot.number, slot
    raise QuotaExceeded(
        f"I am already working on {MAX_CONCURRENT_TURNS} of your questions. "
        "It continues as soon as one of them is answered, or when you stop one.",
        policy="concurrent-turns",
        limit=MAX_CONCURRENT_TURNS,
        retry_after_s=RETRY_AFTER_S,
    )


async def _is_abandoned(deps: SlotDeps, uid: UserId, slot: TurnSlot) -> bool:
    """Tell whether a slot's run ended or never began; close it if it lapsed.

    A run that is closed stores its end no more, so it cannot free the slot of its successor.
    """
    now = deps.clock.now()
    run = await load_closing_lapsed(deps.stores.runs, uid, slot.run_id, now=now)
    if run is None:
        return slot.taken_at + BEGIN_TIMEOUT <= now
    return run.outcome is not None
