"""Disclosure ledger: how many bits each maker was told today in calls that nobody was asked about."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta

from shared.domain.documents import Document, Set
from shared.domain.ids import UserId
from shared.ports import Documents, Transaction

_KEPT = timedelta(days=2)


class DisclosureLedger:
    """One document a user and day of UTC."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def spend(
        self, uid: UserId, bits_by_maker: Mapping[str, float], *, limit: float, now: datetime
    ) -> frozenset[str]:
        """Add bits for each maker that stays within `limit` today; return these makers."""
        path = _document_path(uid, now.date())

        async def work(transaction: Transaction) -> frozenset[str]:
            spent = _load_bits(await transaction.get(path))
            totals = {maker: spent.get(maker, 0.0) + bits for maker, bits in bits_by_maker.items()}
            admitted = {maker: total for maker, total in totals.items() if total <= limit}
            if admitted:
                fields = {"bits": {**spent, **admitted}, "expires_at": now + _KEPT}
                transaction.write(Set(path, fields))
            return frozenset(admitted)

        return await self._documents.transaction(work)

    async def load_day(self, uid: UserId, day: date) -> dict[str, float]:
        """Return the bits of each maker on a day."""
        return _load_bits(await self._documents.get(_document_path(uid, day)))


def _load_bits(document: Document | None) -> dict[str, float]:
    return dict(document.fields["bits"]) if document else {}


def _document_path(uid: UserId, day: date) -> str:
    return f"users/{uid}/limits/disclosure-{day.isoformat()}"
