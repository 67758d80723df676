"""Daily summaries of a user: one document a local day."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime

from shared.data.store.codec import dump, load, load_all
from shared.domain.conversations.daily_summary import DailySummary
from shared.domain.errors import AlreadyExists, NotFound, PreconditionFailed
from shared.domain.ids import UserId
from shared.domain.store.documents import Create, Operator, Order, Query, Set, Update, Where
from shared.ports import Documents, Transaction

MAX_OFFSET = 4_000
"""Skipped summaries are read too; more days than that, nobody has."""


class DailySummaries:
    """A user's daily summaries; the date is stored beside the rest, so that they sort by it."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def find(self, uid: UserId, day: date) -> DailySummary | None:
        document = await self._documents.get(_build_path(uid, day))
        return load(DailySummary, document) if document else None

    async def get(self, uid: UserId, summary_id: str) -> DailySummary:
        """Raises NotFound."""
        summary = await self.find(uid, _parse_day(summary_id))
        if summary is None:
            raise NotFound("Daily summary not found")
        return summary

    async def list_newest(
        self,
        uid: UserId,
        *,
        limit: int,
        offset: int = 0,
        first: date | None = None,
        last: date | None = None,
    ) -> list[DailySummary]:
        """List by day from `first` to `last`, the newest first; nothing beyond MAX_OFFSET."""
        if offset > MAX_OFFSET:
            return []
        bounds: Sequence[tuple[Operator, date | None]] = ((">=", first), ("<=", last))
        query = Query(
            collection=f"users/{uid}/daily_summaries",
            where=tuple(
                Where("date", operator, day.isoformat()) for operator, day in bounds if day
            ),
            order_by=(Order("date", "desc"),),
            limit=offset + limit,
        )
        return load_all(DailySummary, (await self._documents.query(query))[offset:])

    async def put(self, uid: UserId, day: date, summary: DailySummary) -> DailySummary:
        """Store it as `renew` decides, and return what is stored."""
        path = _build_path(uid, day)

        async def work(tx: Transaction) -> DailySummary:
            document = await tx.get(path)
            stored = load(DailySummary, document) if document else None
            renewed = stored.renew(summary) if stored else summary
            if renewed != stored:
                tx.write(Set(path, {**dump(renewed), "date": day.isoformat()}))
            return renewed

        return await self._documents.transaction(work)

    async def restore(self, uid: UserId, summary: DailySummary) -> None:
        """Store a summary as it was, unless its day has one. Raises NotFound for what names no day."""
        day = _parse_day(summary.id)
        fields = {**dump(summary), "date": day.isoformat()}
        with suppress(AlreadyExists):
            await self._documents.write(Create(_build_path(uid, day), fields))

    async def mark_announced(self, uid: UserId, day: date, at: datetime) -> None:
        with suppress(PreconditionFailed):  # its user was erased
            await self._documents.write(Update(_build_path(uid, day), {"announced_at": at}))


def _parse_day(summary_id: str) -> date:
    """Raises NotFound for what names no day."""
    try:
        day = date.fromisoformat(summary_id)
    except ValueError as error:
        raise NotFound("Daily summary not found") from error
    return day


def _build_path(uid: UserId, day: date) -> str:
    return f"users/{uid}/daily_summaries/{day.isoformat()}"
