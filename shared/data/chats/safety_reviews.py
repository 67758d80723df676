"""Safety of chats: each question's harm is added to its chat's score, and operators learn of some chats."""

from datetime import datetime
from hashlib import sha256

from shared.data.chats.sessions import session_path
from shared.data.store.codec import dump, load, load_all
from shared.domain.chats.chat import Session
from shared.domain.chats.safety import SafetyReview, SafetyScore, SafetyStep
from shared.domain.chats.storage_mode import is_incognito
from shared.domain.ids import SessionId, UserId
from shared.domain.store.documents import Delete, Order, Query, Set, Update
from shared.ports import Documents, Transaction
from shared.safety.safety_score import add_harm, calls_for_review, find_step

_MAX_LISTED = 1_000


class SafetyReviews:
    """The score stands on its chat; a review beside all users, with ids alone."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def add_harm(
        self, uid: UserId, session_id: SessionId, harm: float, now: datetime
    ) -> SafetyStep:
        """Add a question's harm to its chat, and return the step that follows.

        A chat that comes to a step of which an operator is told gets a review, unless it is incognito: of
        such a chat nothing is stored. A deleted chat has no score.
        """
        path = session_path(uid, session_id)

        async def work(tx: Transaction) -> SafetyStep:
            document = await tx.get(path)
            if document is None:
                return "none"
            before = load(Session, document).safety
            score = add_harm(before, harm, now)
            step = find_step(score, now)
            tx.write(Update(path, {"safety": dump(score)}))
            if calls_for_review(find_step(before, now), step) and not is_incognito(session_id):
                review = _build_review(uid, session_id, step, score.points, now)
                fields = {**dump(review), "expires_at": review.expires_at}
                tx.write(Set(review_path(review.id), fields))
            return step

        return await self._documents.transaction(work)

    async def list_newest(self) -> list[SafetyReview]:
        """List the newest 1,000, newest first."""
        query = Query(
            collection="safety_reviews", order_by=(Order("created_at", "desc"),), limit=_MAX_LISTED
        )
        return load_all(SafetyReview, await self._documents.query(query))

    async def close(self, review: SafetyReview) -> None:
        """Remove a review that was looked at; its chat stays as it is."""
        await self._documents.write(Delete(review_path(review.id)))

    async def unlock(self, review: SafetyReview) -> None:
        """Give the chat of a review a new score, if it still exists, and remove the review."""
        path = session_path(review.uid, review.session_id)

        async def work(tx: Transaction) -> None:
            if await tx.get(path) is not None:
                tx.write(Update(path, {"safety": dump(SafetyScore())}))
            tx.write(Delete(review_path(review.id)))

        await self._documents.transaction(work)


def _build_review(
    uid: UserId, session_id: SessionId, step: SafetyStep, points: float, now: datetime
) -> SafetyReview:
    """Build the one review of a chat, by an id that tells neither the chat nor the user."""
    return SafetyReview(
        id=sha256(f"{uid}/{session_id}".encode()).hexdigest()[:32],
        uid=uid,
        session_id=session_id,
        step=step,
        points=points,
        created_at=now,
    )


def review_path(review_id: str) -> str:
    return f"safety_reviews/{review_id}"
