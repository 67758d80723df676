"""Hourly limits that hold under any concurrency: an hour is one document, which names who took of it.

Also called: atomic counter.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from shared.domain.errors import PreconditionFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.store.documents import Create, Document, Update
from shared.domain.store.operation import OPERATION_TTL

if TYPE_CHECKING:
    from shared.ports import Documents

LimitWrite = Create | Update
LimitWriter = Callable[[LimitWrite], Awaitable[None]]


class HourlyLimits:
    """Who takes of an hour writes its document as it was read: of two who do at once, one reads again."""

    def __init__(self, documents: "Documents") -> None:
        self._documents = documents

    async def consume(
        self,
        uid: UserId,
        name: str,
        *,
        hour: datetime,
        limit: int,
        consumer: str,
        store: LimitWriter | None = None,
    ) -> int | None:
        """Take one of `limit` in the hour that begins at `hour`; return how many are left.

        None where none is left. A `consumer` takes one, however often it asks. `store` makes the write of
        the limit together with what it is for, all or none; what it raises is raised, unless another
        consumer was faster, which happens at most `limit` times.
        """
        path = f"users/{uid}/limits/hour-{name}-{hour:%Y-%m-%d-%H}"
        # A consumer may ask again for as long as its operation is stored.
        expires_at = hour + timedelta(hours=1) + OPERATION_TTL
        stored = await self._documents.get(path)
        for _ in range(limit + 1):
            consumers = _list_consumers(stored)
            if consumer in consumers:
                return max(0, limit - len(consumers))
            if len(consumers) >= limit:
                return None
            try:
                await (store or self._documents.write)(
                    _build_write(path, stored, [*consumers, consumer], expires_at)
                )
            except PreconditionFailed:
                before, stored = stored, await self._documents.get(path)
                if _find_version(before) == _find_version(stored):
                    raise
            else:
                return limit - len(consumers) - 1
        raise Unavailable("The limit could not be counted")


def _list_consumers(stored: Document | None) -> Sequence[str]:
    return stored.fields["consumers"] if stored else ()


def _find_version(stored: Document | None) -> str | None:
    return stored.version if stored else None


def _build_write(
    path: str, stored: Document | None, consumers: Sequence[str], expires_at: datetime
) -> LimitWrite:
    if stored is None:
        return Create(path, {"consumers": consumers, "expires_at": expires_at})
    return Update(path, {"consumers": consumers}, version=stored.version)
