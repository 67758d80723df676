"""Review store: what users say of an app, one review each, and the rating that follows from them.

A review stands below its app. The copy below its author's account, `users/{uid}/app_reviews/{app_id}`,
lets an export and an erasure find it.
"""

import hashlib
from dataclasses import replace
from datetime import datetime

from shared.data.apps.apps import app_path
from shared.data.store.codec import dump, load, load_all
from shared.domain.apps.app import App, AppReview
from shared.domain.errors import AccountErased, NotFound, PreconditionFailed
from shared.domain.ids import AppId, UserId, is_id
from shared.domain.store.documents import Delete, Document, Increment, Order, Query, Set, Update
from shared.ports import Documents, Transaction

MAX_LISTED = 100


class AppReviews:
    """Reviews of apps; an app's rating changes in the same transaction as its reviews."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def find(self, app: App, uid: UserId) -> AppReview | None:
        return _load(await self._documents.get(_review_path(app.id, build_reviewer_id(app, uid))))

    async def list_newest(self, app_id: AppId, *, limit: int = MAX_LISTED) -> list[AppReview]:
        query = Query(
            collection=f"apps/{app_id}/reviews",
            order_by=(Order("created_at", "desc"),),
            limit=limit,
        )
        return load_all(AppReview, await self._documents.query(query))

    async def put(
        self, app: App, uid: UserId, *, points: int, text: str, username: str, now: datetime
    ) -> AppReview:
        """Store a user's review, or change it; the developer's answer stays. Raises NotFound."""
        new_review = AppReview(
            id=build_reviewer_id(app, uid),
            points=points,
            text=text,
            username=username,
            created_at=now,
        )

        async def work(tx: Transaction) -> AppReview:
            stored = _load(await tx.get(_review_path(app.id, new_review.id)))
            review = _merge(stored, new_review) if stored else new_review
            tx.write(
                _build_rating_write(app.id, stored, review),
                Set(_review_path(app.id, review.id), dump(review)),
                Set(_copy_path(uid, app.id), dump(review)),
            )
            return review

        try:
            return await self._documents.transaction(work)
        except AccountErased:
            raise
        except PreconditionFailed as error:
            raise NotFound("App not found") from error

    async def respond(
        self, app_id: AppId, reviewer_id: str, response: str, now: datetime
    ) -> AppReview:
        """Store the developer's answer to a review. Raises NotFound."""
        if not is_id(reviewer_id):
            raise NotFound("Review not found")
        path = _review_path(app_id, reviewer_id)

        async def work(tx: Transaction) -> AppReview:
            stored = _load(await tx.get(path))
            if stored is None:
                raise NotFound("Review not found")
            review = replace(stored, response=response, responded_at=now)
            tx.write(Set(path, dump(review)))
            return review

        return await self._documents.transaction(work)

    async def remove_all(self, uid: UserId) -> int:
        """Delete every review that a user wrote; idempotent. Returns how many there were."""
        copies = await self._documents.query(
            Query(collection=f"users/{uid}/app_reviews", fields=("id",))
        )
        for copy in copies:
            await self._remove(uid, AppId(copy.id), copy.fields["id"])
        return len(copies)

    async def _remove(self, uid: UserId, app_id: AppId, reviewer_id: str) -> None:
        path = _review_path(app_id, reviewer_id)

        async def work(tx: Transaction) -> None:
            stored = _load(await tx.get(path))
            tx.write(Delete(path), Delete(_copy_path(uid, app_id)))
            if stored is not None:
                tx.write(_build_rating_write(app_id, stored, None))

        try:
            await self._documents.transaction(work)
        except PreconditionFailed:  # the app is gone, and with it all that was said of it
            await self._documents.write(Delete(path), Delete(_copy_path(uid, app_id)))


def _load(document: Document | None) -> AppReview | None:
    return load(AppReview, document) if document else None


def _merge(stored: AppReview, changed: AppReview) -> AppReview:
    return replace(
        stored,
        points=changed.points,
        text=changed.text,
        username=changed.username,
        updated_at=changed.created_at,
    )


def _build_rating_write(app_id: AppId, before: AppReview | None, after: AppReview | None) -> Update:
    """Count the difference without reading the app, so that its reviewers do not wait for each other."""
    changes = {
        "rating.count": Increment((after is not None) - (before is not None)),
        "rating.points": Increment(
            (after.points if after else 0) - (before.points if before else 0)
        ),
    }
    return Update(app_path(app_id), changes)


def build_reviewer_id(app: App, uid: UserId) -> str:
    """Return the id under which a user's review of an app is read by others."""
    return hashlib.sha256(f"{app.user_key}:{app.id}:{uid}".encode()).hexdigest()[:32]


def _review_path(app_id: AppId, reviewer_id: str) -> str:
    return f"apps/{app_id}/reviews/{reviewer_id}"


def _copy_path(uid: UserId, app_id: AppId) -> str:
    return f"users/{uid}/app_reviews/{app_id}"
