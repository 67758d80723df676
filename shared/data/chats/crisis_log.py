"""Crisis log: what was done for people in a crisis, without their words and names, for 90 days.

It stands beside everything that belongs to a user: no setting, no memory command and no deletion of a
chat touches it. An erasure takes the user out. Counts a day remain, which know no persons.
"""

from datetime import datetime
from hashlib import sha256

from shared.data.store.codec import dump
from shared.data.store.day_counts import DayCounts
from shared.domain.chats.crisis import CrisisDeed, CrisisEvent, CrisisLevel, CrisisVerdict
from shared.domain.ids import RunId, SessionId, UserId
from shared.domain.store.documents import Query, Set, Update, Where
from shared.ports import Documents, Transaction
from shared.safety.crisis_plan import list_resources
from shared.security.pseudonyms import Pseudonyms

_BATCH = 400


class CrisisLog:
    """Written beside answers, read by nobody but an operator, in sums."""

    def __init__(self, documents: Documents, pseudonyms: Pseudonyms) -> None:
        self._documents = documents
        self._pseudonyms = pseudonyms
        self._days = DayCounts(documents, "crisis_days")

    async def record(
        self,
        uid: UserId,
        session_id: SessionId,
        run_id: RunId,
        verdict: CrisisVerdict,
        *,
        now: datetime,
        missed: CrisisDeed | None = None,
        names_user: bool = True,
    ) -> None:
        """Record a verdict once, however often it comes; `missed` tells that no plan took the answer's place."""
        session = self._pseudonyms.hash_session(uid, session_id)
        is_answered = verdict.route == "crisis" and missed != "found_late"
        deed: CrisisDeed = "answered" if is_answered else "asked"
        event = CrisisEvent(
            id=sha256(f"{session}/{run_id}".encode()).hexdigest()[:32],
            kind=missed or deed,
            session=session,
            user=self._pseudonyms.hash(uid) if names_user else None,
            level=verdict.level,
            decided_by=verdict.decided_by,
            created_at=now,
            resource_count=len(list_resources(verdict.country)) if is_answered else 0,
            knows_country=verdict.country is not None,
        )
        await self._add(event)

    async def find_highest_level(
        self, uid: UserId, session_id: SessionId, *, since: datetime, before: datetime
    ) -> CrisisLevel:
        """Return the highest level that a chat had between these, 0 for none."""
        session = self._pseudonyms.hash_session(uid, session_id)
        query = Query(collection="crisis_log", where=(Where("session", "==", session),))
        events = await self._documents.query(query)
        levels = (
            event.fields["level"]
            for event in events
            if since <= event.fields["created_at"] < before
        )
        highest: CrisisLevel = max(levels, default=0)
        return highest

    async def forget_user(self, uid: UserId) -> None:
        """Take a user out of every event."""
        user = self._pseudonyms.hash(uid)
        query = Query(collection="crisis_log", where=(Where("user", "==", user),), limit=_BATCH)
        while events := await self._documents.query(query):
            await self._documents.write(*(Update(event.path, {"user": None}) for event in events))

    async def _add(self, event: CrisisEvent) -> None:
        path = f"crisis_log/{event.id}"
        day_path = self._days.build_path(event.created_at.date(), event.id)
        name = f"{event.kind}-{event.level}-{event.decided_by}"

        async def work(tx: Transaction) -> None:
            stored, day = await tx.get_many([path, day_path])
            if stored is None:
                tx.write(Set(path, {**dump(event), "expires_at": event.expires_at}))
                self._days.add(tx, day_path, day, **{name: 1})

        await self._documents.transaction(work)
