"""Quotas of users: what each used today and stores in all, counted before the work it pays for."""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from shared.domain.account.quota import DAILY_QUOTAS, MAX_QUOTA_ANSWERS, QuotaName, build_refusal
from shared.domain.errors import PreconditionFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.store.documents import Create, Document, Increment, Set, Update

if TYPE_CHECKING:
    from shared.ports import Documents

MAX_ATTEMPTS = 50
"""In each of them another process wrote the same document first."""
BURST = timedelta(seconds=2)
"""Within this time of the last reservation, the next one is twice as large."""
MAX_RESERVED_SHARE = 100
"""A process reserves at most this part, a hundredth, of what is left."""
MAX_COUNTERS = 10_000
USAGE_TTL = timedelta(days=35)


class _Counter:
    """The part of a user's quota that this process reserved and has not used, and what it owes."""

    __slots__ = ("last_size", "lock", "refilled_at", "reserved", "unrecorded")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.reserved = 0
        self.last_size = 0
        self.refilled_at: datetime | None = None
        self.unrecorded: Counter[str] = Counter()


class Quotas:
    """One document a user and day, `users/{uid}/usage/{day}`, with a number for each quota.

    The bytes that a user stores stand in `users/{uid}/usage/stored`.

    A quota is taken under a version precondition, so that no two processes take the same. A process
    in a burst reserves more at once: a document stands about one write a second. `limits` are by
    quota; one that is missing has no limit and is counted all the same.
    """

    def __init__(self, documents: "Documents", limits: Mapping[QuotaName, int]) -> None:
        self.limits = limits
        self._documents = documents
        self._counters: OrderedDict[tuple[UserId, QuotaName, date], _Counter] = OrderedDict()

    async def take(self, uid: UserId, quota: QuotaName, amount: int = 1, *, now: datetime) -> None:
        """Count `amount` as used. Raises QuotaExceeded where less is left, and Unavailable.

        A turn is also refused where no tokens are left.
        """
        counter = self._get_counter(uid, quota, now)
        async with counter.lock:
            if counter.reserved < amount:
                await self._reserve(uid, quota, counter, amount, now)
            counter.reserved -= amount

    async def give_back(
        self, uid: UserId, quota: QuotaName, amount: int = 1, *, now: datetime
    ) -> None:
        """Undo a taking whose work was refused or undone afterwards."""
        await self.record(uid, quota, -amount, now=now)

    async def record(self, uid: UserId, quota: QuotaName, amount: int, *, now: datetime) -> None:
        """Count what was used, beyond the limit as well."""
        await self.record_numbers(uid, quota, {quota: amount}, now=now)

    async def record_numbers(
        self, uid: UserId, quota: QuotaName, numbers: Mapping[str, int], *, now: datetime
    ) -> None:
        """Add to numbers of the document of a quota; concurrent records share one write."""
        counter = self._get_counter(uid, quota, now)
        counter.unrecorded.update(numbers)
        async with counter.lock:
            pending, counter.unrecorded = counter.unrecorded, Counter()
            changes = {name: amount for name, amount in pending.items() if amount}
            if changes:
                await self._add(uid, quota, changes, now)

    async def load_days(
        self, uid: UserId, now: datetime, *, days: int
    ) -> list[tuple[date, Document]]:
        """Return the documents of the last days, the newest first, that there are."""
        dates = [_find_day(now) - timedelta(n) for n in range(days)]
        documents = await self._documents.get_many([_day_path(uid, day) for day in dates])
        return [(day, document) for day, document in zip(dates, documents, strict=True) if document]

    async def load_usage(self, uid: UserId, now: datetime) -> Mapping[QuotaName, int]:
        """Return what was used on the day of `now`, and what is stored, by quota."""
        paths = [_document_path(uid, "turns", now), _document_path(uid, "stored_bytes", now)]
        today, stored = await self._documents.get_many(paths)
        used: dict[QuotaName, int] = {quota: _read_used(today, quota) for quota in DAILY_QUOTAS}
        return {**used, "stored_bytes": _read_used(stored, "stored_bytes")}

    async def set_stored_bytes(self, uid: UserId, amount: int) -> None:
        """Correct the count of what is stored, after everything was counted anew."""
        await self._documents.write(Set(f"users/{uid}/usage/stored", {"stored_bytes": amount}))

    def _get_counter(self, uid: UserId, quota: QuotaName, now: datetime) -> _Counter:
        key = (uid, quota, _find_day(now))
        counter = self._counters.setdefault(key, _Counter())
        self._counters.move_to_end(key)
        if len(self._counters) > MAX_COUNTERS:
            self._counters.popitem(last=False)
        return counter

    async def _reserve(
        self, uid: UserId, quota: QuotaName, counter: _Counter, amount: int, now: datetime
    ) -> None:
        """Take at least what `amount` lacks from the store."""
        path = _document_path(uid, quota, now)
        for _ in range(MAX_ATTEMPTS):
            document = await self._documents.get(path)
            self._check_counted_afterwards(quota, document, now)
            used = _read_used(document, quota)
            missing = amount - counter.reserved
            free = self._require_free(quota, used, missing, now)
            size = max(missing, _choose_size(quota, counter, free, now))
            write = (
                Update(path, {quota: used + size}, version=document.version)
                if document
                else Create(path, _build_fields(quota, {quota: size}, now))
            )
            try:
                await self._documents.write(write)
            except PreconditionFailed:
                continue
            counter.reserved += size
            counter.last_size, counter.refilled_at = size, now
            return
        raise Unavailable("The use of a quota could not be counted")

    def _check_counted_afterwards(
        self, quota: QuotaName, document: Document | None, now: datetime
    ) -> None:
        """Refuse a turn where no tokens are left: how many it takes shows only at its end."""
        if quota == "turns":
            self._require_free("tokens", _read_used(document, "tokens"), 1, now)

    def _require_free(self, quota: QuotaName, used: int, amount: int, now: datetime) -> int | None:
        """Return what is free, None without a limit. Raises QuotaExceeded for less than `amount`."""
        limit = MAX_QUOTA_ANSWERS if quota == "quota_answers" else self.limits.get(quota)
        if limit is None:
            return None
        if used + amount > limit:
            raise build_refusal(quota, limit, now)
        return limit - used

    async def _add(
        self, uid: UserId, quota: QuotaName, numbers: Mapping[str, int], now: datetime
    ) -> None:
        path = _document_path(uid, quota, now)
        update = Update(path, {name: Increment(amount) for name, amount in numbers.items()})
        try:
            await self._documents.write(update)
        except PreconditionFailed:
            first = {name: max(amount, 0) for name, amount in numbers.items()}
            try:
                await self._documents.write(Create(path, _build_fields(quota, first, now)))
            except PreconditionFailed:  # another process was the day's first
                await self._documents.write(update)


def _choose_size(quota: QuotaName, counter: _Counter, free: int | None, now: datetime) -> int:
    """Double the reservation during a burst; near the limit, reserve no more than is needed.

    What is stored is counted for good, so nothing is reserved beyond it.
    """
    if quota == "stored_bytes":
        return 0
    if counter.refilled_at is None or now - counter.refilled_at > BURST:
        return 0
    size = 2 * counter.last_size
    return size if free is None else min(size, free // MAX_RESERVED_SHARE)


def _read_used(document: Document | None, quota: QuotaName) -> int:
    return int(document.fields.get(quota, 0)) if document else 0


def _build_fields(quota: QuotaName, numbers: Mapping[str, int], now: datetime) -> dict[str, object]:
    ends = {} if quota == "stored_bytes" else {"expires_at": now + USAGE_TTL}
    return {**numbers, **ends}


def _document_path(uid: UserId, quota: QuotaName, now: datetime) -> str:
    if quota == "stored_bytes":
        return f"users/{uid}/usage/stored"
    return _day_path(uid, _find_day(now))


def _day_path(uid: UserId, day: date) -> str:
    return f"users/{uid}/usage/{day.isoformat()}"


def _find_day(now: datetime) -> date:
    return now.astimezone(UTC).date()
