"""Feedback of users, in a store of its own, and its counts for an operator, which know no persons.

Also called: thumbs up, user feedback.
"""

from collections import Counter
from dataclasses import replace
from hashlib import sha256

from shared.data.store.codec import dump, load
from shared.data.store.day_counts import DayCounts
from shared.domain.chats.feedback import Feedback
from shared.domain.chats.storage_mode import is_incognito
from shared.domain.ids import UserId
from shared.domain.store.documents import Delete, Fields, Set
from shared.ports import Documents, Transaction


class FeedbackStore:
    """One thumb for each answer and each end of a chat; of incognito chats, nobody's."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._days = DayCounts(documents, "feedback_days")

    async def set(self, uid: UserId, feedback: Feedback) -> None:
        """Store a thumb in the place of an earlier one; it is counted once, on the day it came first."""
        await self._replace(uid, feedback.id, feedback)

    async def remove(self, uid: UserId, feedback_id: str) -> None:
        """Take a thumb back; a missing one is no error."""
        await self._replace(uid, feedback_id, None)

    async def _replace(self, uid: UserId, feedback_id: str, new: Feedback | None) -> None:
        key = sha256(f"{uid}/{feedback_id}".encode()).hexdigest()
        is_named = not is_incognito(feedback_id)
        path = f"users/{uid}/feedback/{feedback_id}" if is_named else f"feedback/{key}"

        async def work(tx: Transaction) -> None:
            stored = await tx.get(path)
            old = load(Feedback, stored) if stored else None
            first = old or new
            if first is None or old == new:
                return
            kept = new and replace(new, created_at=first.created_at)
            day_path = self._days.build_path(first.created_at.date(), key)
            day = await tx.get(day_path)
            changes: Counter[str] = Counter()
            changes.update([kept.count_name] if kept else [])
            changes.subtract([old.count_name] if old else [])
            tx.write(Set(path, _to_fields(kept, is_named=is_named)) if kept else Delete(path))
            self._days.add(tx, day_path, day, **changes)

        await self._documents.transaction(work)


def _to_fields(feedback: Feedback, *, is_named: bool) -> Fields:
    """Return what is stored; of an incognito chat without its id."""
    shown = feedback if is_named else replace(feedback, id="")
    return {**dump(shown), "expires_at": feedback.expires_at}
