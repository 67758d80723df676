"""Erasures of accounts: their state, stored under an id that reveals nothing about the user."""

from collections import OrderedDict
from dataclasses import replace
from datetime import datetime, timedelta

from shared.data.store.codec import dump, load
from shared.domain.account.account import ERASURE_TTL, Erasure
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.domain.store.documents import Document, Set
from shared.ports import Clock, Documents, Transaction
from shared.security.pseudonyms import Pseudonyms

RETRY_WINDOW = timedelta(hours=1)
"""Longer than the platform repeats a failed task: then an erasure may be requested once more."""
MAX_CACHED_USERS = 10_000


class Erasures:
    """The last erasure of each user; one attempt at a time works on it."""

    def __init__(self, documents: Documents, pseudonyms: Pseudonyms) -> None:
        self._documents = documents
        self._pseudonyms = pseudonyms

    async def get(self, uid: UserId) -> Erasure | None:
        return _load_erasure(await self._documents.get(_build_path(self._pseudonyms.hash(uid))))

    def get_owner(self, erasure: Erasure) -> UserId:
        """Return whom an erasure concerns that has something left to do."""
        assert erasure.subject is not None, "claim() returns no other"
        return self._pseudonyms.unseal(erasure.subject)

    async def begin(self, uid: UserId, now: datetime) -> Erasure:
        """Store that an erasure is under way; return the one that may still end by itself."""
        new_erasure = Erasure(
            id=self._pseudonyms.hash(uid),
            status="running",
            requested_at=now,
            expires_at=now + ERASURE_TTL,
            subject=self._pseudonyms.seal(uid),
        )
        path = _build_path(new_erasure.id)

        async def work(tx: Transaction) -> Erasure:
            stored_erasure = _load_erasure(await tx.get(path))
            if stored_erasure and _may_still_end(stored_erasure, now):
                return stored_erasure
            tx.write(Set(path, dump(new_erasure)))
            return new_erasure

        return await self._documents.transaction(work)

    async def claim(
        self, erasure_id: str, attempt: str, now: datetime, *, is_sweep: bool
    ) -> Erasure | None:
        """Lease an erasure for one attempt; None where nothing is left to do.

        A sweep also finds something to do after the end. Raises Unavailable while another attempt
        is at work.
        """
        path = _build_path(erasure_id)

        async def work(tx: Transaction) -> Erasure | None:
            erasure = _load_erasure(await tx.get(path))
            if erasure is None or erasure.subject is None:
                return None
            if erasure.status == "done" and not is_sweep:
                return None
            if erasure.is_leased(now):
                raise Unavailable("Another attempt erases this account")
            leased_erasure = erasure.lease(attempt, now)
            tx.write(Set(path, dump(leased_erasure)))
            return leased_erasure

        return await self._documents.transaction(work)

    async def save(self, erasure: Erasure) -> None:
        """Store the progress of a claimed erasure. Raises Unavailable if another attempt took over."""
        path = _build_path(erasure.id)

        async def work(tx: Transaction) -> None:
            stored_erasure = _load_erasure(await tx.get(path))
            if stored_erasure is None or stored_erasure.attempt != erasure.attempt:
                raise Unavailable("Another attempt erases this account")
            tx.write(Set(path, dump(erasure)))

        await self._documents.transaction(work)

    async def release(self, erasure: Erasure) -> None:
        """Let the next attempt continue at once."""
        await self.save(replace(erasure, leased_until=None))


class ErasureCache:
    """Erasures by user, at most `staleness` old.

    An erasure that is under way is always read anew, so that its end is seen at once.
    """

    def __init__(self, erasures: Erasures, clock: Clock, staleness: timedelta) -> None:
        self._erasures = erasures
        self._clock = clock
        self._staleness = staleness
        self._entries: OrderedDict[UserId, tuple[datetime, Erasure | None]] = OrderedDict()

    async def get(self, uid: UserId) -> Erasure | None:
        now = self._clock.now()  # before the read: what is read may be older than its answer
        read_at, erasure = self._entries.get(uid, (None, None))
        if read_at is not None and now - read_at < self._staleness:
            return erasure
        erasure = await self._erasures.get(uid)
        if erasure is None or erasure.status == "done":
            self._put(uid, now, erasure)
        return erasure

    def _put(self, uid: UserId, read_at: datetime, erasure: Erasure | None) -> None:
        self._entries[uid] = (read_at, erasure)
        self._entries.move_to_end(uid)
        if len(self._entries) > MAX_CACHED_USERS:
            self._entries.popitem(last=False)


def _may_still_end(erasure: Erasure, now: datetime) -> bool:
    return erasure.status == "running" and now < erasure.requested_at + RETRY_WINDOW


def _load_erasure(document: Document | None) -> Erasure | None:
    return load(Erasure, document) if document else None


def _build_path(erasure_id: str) -> str:
    return f"erasures/{erasure_id}"
