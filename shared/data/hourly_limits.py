"""Hourly limits that hold under any concurrency: an hour has as many slots as it admits."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from zlib import crc32

from shared.domain.documents import Create
from shared.domain.errors import AlreadyExists, Unavailable
from shared.domain.ids import UserId
from shared.domain.operation import OPERATION_TTL
from shared.ports import Documents

SlotWriter = Callable[[Create], Awaitable[None]]


class HourlyLimits:
    """A slot is a document that only one caller can create, so that no two callers share one."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def consume(
        self,
        uid: UserId,
        name: str,
        *,
        hour: datetime,
        limit: int,
        consumer: str,
        store: SlotWriter | None = None,
    ) -> int | None:
        """Take a slot of the hour that begins at `hour`; return how many are left.

        None where no slot is free. A `consumer` takes one slot, however often it asks; consumers
        start at different slots, so that they rarely contend. `store` writes the slot together
        with what it is for, all or none, and raises AlreadyExists where the slot is taken. Raises
        Unavailable where slots are free and none could be taken.
        """
        paths = [f"users/{uid}/limits/{name}-{hour:%Y-%m-%d-%H}-{n}" for n in range(limit)]
        # A consumer may ask again for as long as its operation is stored.
        fields = {"taker": consumer, "expires_at": hour + timedelta(hours=1) + OPERATION_TTL}
        for _ in range(limit + 1):  # in each round another consumer took a slot
            slots = await self._documents.get_many(paths)
            free = [path for path, slot in zip(paths, slots, strict=True) if slot is None]
            if any(slot is not None and slot.fields.get("taker") == consumer for slot in slots):
                return len(free)
            if not free:
                return None
            slot = Create(free[crc32(consumer.encode()) % len(free)], fields)
            if await _try_store(slot, store or self._documents.write):
                return len(free) - 1
        raise Unavailable("A free slot could not be taken")


async def _try_store(slot: Create, store: SlotWriter) -> bool:
    try:
        await store(slot)
    except AlreadyExists:
        return False
    return True
