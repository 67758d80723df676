"""Disclosure ledger: how many bits each maker was told today in calls that nobody was asked about."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta

from shared.data.chats.messages import message_path
from shared.data.store.codec import dump, load
from shared.domain.chats.chat import Message
from shared.domain.ids import MessageId, UserId
from shared.domain.store.documents import Document, Set, Update
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
                transaction.write(_build_write(path, {**spent, **admitted}, now))
            return frozenset(admitted)

        return await self._documents.transaction(work)

    async def spend_on_links(
        self, uid: UserId, answer_id: MessageId, maker: str, *, limit: float, now: datetime
    ) -> bool:
        """Add the bits of an answer's links, once for each answer; tell whether they may be looked up."""
        day, answer = _document_path(uid, now.date()), message_path(uid, answer_id)

        async def work(transaction: Transaction) -> bool:
            stored, ledger = await transaction.get_many([answer, day])
            links = load(Message, stored).links if stored else None
            if links is None or links.state != "found":
                return links is not None and links.state == "counted"
            spent = _load_bits(ledger)
            total = spent.get(maker, 0.0) + links.bits
            if total > limit:
                return False
            counted = {"links": dump(replace(links, state="counted"))}
            transaction.write(
                _build_write(day, {**spent, maker: total}, now), Update(answer, counted)
            )
            return True

        return await self._documents.transaction(work)

    async def load_day(self, uid: UserId, day: date) -> dict[str, float]:
        """Return the bits of each maker on a day."""
        return _load_bits(await self._documents.get(_document_path(uid, day)))


def _build_write(path: str, bits: Mapping[str, float], now: datetime) -> Set:
    return Set(path, {"bits": dict(bits), "expires_at": now + _KEPT})


def _load_bits(document: Document | None) -> dict[str, float]:
    return dict(document.fields["bits"]) if document else {}


def _document_path(uid: UserId, day: date) -> str:
    return f"users/{uid}/limits/disclosure-{day.isoformat()}"
