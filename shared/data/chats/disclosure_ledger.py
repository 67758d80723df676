"""Disclosure ledger: how many bits each maker was told today in calls that nobody was asked about."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from shared.data.chats.messages import message_path
from shared.data.store.codec import dump, load
from shared.domain.chats.chat import Message
from shared.domain.ids import MessageId, UserId
from shared.domain.store.documents import Document, Set, Update
from shared.domain.value import value
from shared.ports import Documents, Transaction

_KEPT = timedelta(days=2)
_ACCOUNTS = {False: "bits", True: "clean_bits"}


@value
class DayOfBits:
    """What each maker was told on a day: `clean_bits` in clean turns, `bits` in all others."""

    bits: Mapping[str, float]
    clean_bits: Mapping[str, float]


class DisclosureLedger:
    """One document a user and day of UTC, with an account for clean turns and one for all others."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def spend(
        self,
        uid: UserId,
        bits_by_maker: Mapping[str, float],
        *,
        is_clean: bool = False,
        limit: float,
        now: datetime,
    ) -> frozenset[str]:
        """Add bits to an account for each maker that stays within `limit` today; return these makers."""
        path = _document_path(uid, now.date())

        async def work(transaction: Transaction) -> frozenset[str]:
            day = _load_day(await transaction.get(path))
            spent = day.clean_bits if is_clean else day.bits
            totals = {maker: spent.get(maker, 0.0) + bits for maker, bits in bits_by_maker.items()}
            admitted = {maker: total for maker, total in totals.items() if total <= limit}
            if admitted:
                changes: dict[str, Any] = {_ACCOUNTS[is_clean]: {**spent, **admitted}}
                transaction.write(_build_write(path, replace(day, **changes), now))
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
            spent = _load_day(ledger)
            total = spent.bits.get(maker, 0.0) + links.bits
            if total > limit:
                return False
            counted = {"links": dump(replace(links, state="counted"))}
            transaction.write(
                _build_write(day, replace(spent, bits={**spent.bits, maker: total}), now),
                Update(answer, counted),
            )
            return True

        return await self._documents.transaction(work)

    async def load_day(self, uid: UserId, day: date) -> DayOfBits:
        return _load_day(await self._documents.get(_document_path(uid, day)))


def _build_write(path: str, day: DayOfBits, now: datetime) -> Set:
    accounts = {name: dict(getattr(day, name)) for name in _ACCOUNTS.values()}
    return Set(path, accounts | {"expires_at": now + _KEPT})


def _load_day(document: Document | None) -> DayOfBits:
    fields = document.fields if document else {}
    return DayOfBits(**{name: fields.get(name, {}) for name in _ACCOUNTS.values()})


def _document_path(uid: UserId, day: date) -> str:
    return f"users/{uid}/limits/disclosure-{day.isoformat()}"
