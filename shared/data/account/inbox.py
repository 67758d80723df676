"""Inbox of a user: every notification sent to them, and the digests of deferred ones.

Also called: notification center, notification history.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from shared.data.store.codec import dump, load, load_all
from shared.data.store.paging import Page, build_page, parse_cursor
from shared.domain.account.notification import (
    Delivery,
    Digest,
    DigestId,
    Notification,
    NotificationId,
)
from shared.domain.errors import NotFound, PreconditionFailed
from shared.domain.ids import UserId, is_id
from shared.domain.store.documents import Create, Order, Query, Update, Where, Write

if TYPE_CHECKING:
    from shared.ports import Documents, Transaction

_BATCH_SIZE = 400
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


class Inbox:
    """Every notification; those with a `delivered_at` are listed."""

    def __init__(self, documents: "Documents") -> None:
        self._documents = documents

    async def add(
        self, uid: UserId, notification: Notification, *, also: Sequence[Write] = ()
    ) -> None:
        """Store it and make the writes `also`, all or none. Raises AlreadyExists."""
        await self._documents.write(*also, build_notification_write(uid, notification))

    async def get(self, uid: UserId, notification_id: NotificationId) -> Notification | None:
        document = await self._documents.get(_notification_path(uid, notification_id))
        return load(Notification, document) if document else None

    async def list_delivered(
        self, uid: UserId, *, limit: int, after: str | None = None
    ) -> Page[Notification]:
        """Return delivered notifications, newest first, from the cursor `after` on."""
        query = Query(
            collection=f"users/{uid}/inbox",
            where=(Where("delivered_at", ">", _EARLIEST),),  # what is for the chat alone has none
            order_by=(Order("delivered_at", "desc"),),
            limit=limit,
            start_after=parse_cursor(after),
        )
        documents = await self._documents.query(query)
        return build_page(load_all(Notification, documents), documents, query)

    async def list_deferred(
        self, uid: UserId, until: datetime, *, after: NotificationId | None = None
    ) -> list[Notification]:
        """Return what is deferred to exactly `until`, by id after `after`; at most 400."""
        query = Query(
            collection=f"users/{uid}/inbox",
            where=(Where("held_until", "==", until),),
            limit=_BATCH_SIZE,
            start_after=(after,) if after else None,
        )
        return load_all(Notification, await self._documents.query(query))

    async def record_delivery(
        self, uid: UserId, notifications: Sequence[Notification], delivery: Delivery
    ) -> None:
        """Store the state of their push; a push that is over is no longer deferred."""
        changes: dict[str, Any] = {"delivery": dump(delivery)}
        if delivery.is_over:
            changes["held_until"] = None
        with suppress(PreconditionFailed):  # their user was erased
            await self._documents.write(
                *(Update(_notification_path(uid, n.id), changes) for n in notifications)
            )

    async def mark_read(self, uid: UserId, notification_id: NotificationId, at: datetime) -> None:
        """Raises NotFound."""
        try:
            await self._documents.write(
                Update(_notification_path(uid, notification_id), {"read_at": at})
            )
        except PreconditionFailed as error:
            raise NotFound("Notification not found") from error


class Digests:
    """Digests of what quiet hours defer, by when they are due."""

    def __init__(self, documents: "Documents") -> None:
        self._documents = documents

    async def defer(self, uid: UserId, digest: Digest, notification_id: NotificationId) -> bool:
        """Defer a notification to a digest; False where that digest is closed.

        Deferring and closing are transactions, so nothing is deferred to a digest that was sent.
        """
        path, notification_path = (
            _digest_path(uid, digest.id),
            _notification_path(uid, notification_id),
        )

        async def work(tx: "Transaction") -> bool:
            stored, document = await tx.get_many([path, notification_path])
            if document is None or load(Notification, document).delivery.is_over:
                return True
            if stored is not None and load(Digest, stored).closed:
                return False
            if stored is None:
                tx.write(Create(path, dump(digest)))
            tx.write(Update(notification_path, {"held_until": digest.due_at}))
            return True

        return await self._documents.transaction(work)

    async def close(self, uid: UserId, digest_id: DigestId) -> Digest | None:
        """Close it to further notifications and return it; None where there is none."""
        path = _digest_path(uid, digest_id)

        async def work(tx: "Transaction") -> Digest | None:
            document = await tx.get(path)
            if document is None:
                return None
            tx.write(Update(path, {"closed": True}))
            return replace(load(Digest, document), closed=True)

        return await self._documents.transaction(work)

    async def record_delivery(self, uid: UserId, digest_id: DigestId, delivery: Delivery) -> None:
        with suppress(PreconditionFailed):  # its user was erased
            changes = {"delivery": dump(delivery)}
            await self._documents.write(Update(_digest_path(uid, digest_id), changes))


def build_notification_write(uid: UserId, notification: Notification) -> Create:
    """Return the write that stores a new notification."""
    return Create(_notification_path(uid, notification.id), dump(notification))


def _notification_path(uid: UserId, notification_id: NotificationId) -> str:
    """Raises NotFound for what is no id."""
    if not is_id(notification_id):
        raise NotFound("Notification not found")
    return f"users/{uid}/inbox/{notification_id}"


def _digest_path(uid: UserId, digest_id: DigestId) -> str:
    return f"users/{uid}/digests/{digest_id}"
