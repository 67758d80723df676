"""A user's inbox: every notification that was sent to them, whole."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from shared.data.codec import dump, load, load_all
from shared.data.paging import Page, page, position
from shared.domain.documents import Create, Order, Query, Update, Where, Write
from shared.domain.errors import NotFound, PreconditionFailed
from shared.domain.ids import UserId, is_id
from shared.domain.notification import Notification, NotificationId
from shared.ports import Documents

_EVER = datetime(1970, 1, 1, tzinfo=UTC)


class Inbox:
    """A notification waits here until it is delivered, and can be read from then on."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def add(
        self, uid: UserId, notification: Notification, *, beside: Sequence[Write] = ()
    ) -> None:
        """Store it and make the writes `beside`, all or none. Raises AlreadyExists."""
        await self._documents.write(*beside, addition(uid, notification))

    async def get(self, uid: UserId, notification_id: NotificationId) -> Notification | None:
        document = await self._documents.get(_path(uid, notification_id))
        return load(Notification, document) if document else None

    async def delivered(
        self, uid: UserId, *, limit: int, after: str | None = None
    ) -> Page[Notification]:
        """Return what was delivered, newest first, from the cursor `after` on."""
        query = Query(
            collection=f"users/{uid}/inbox",
            where=(Where("delivered_at", ">", _EVER),),  # what still waits has no time to compare
            order_by=(Order("delivered_at", "desc"),),
            limit=limit,
            start_after=position(after),
        )
        found = await self._documents.query(query)
        return page(load_all(Notification, found), found, query)

    async def mark_delivered(
        self, uid: UserId, notification_id: NotificationId, at: datetime
    ) -> None:
        """Raises NotFound."""
        await self._change(uid, notification_id, delivered_at=at)

    async def mark_read(self, uid: UserId, notification_id: NotificationId, at: datetime) -> None:
        """Raises NotFound."""
        await self._change(uid, notification_id, read_at=at)

    async def _change(self, uid: UserId, notification_id: NotificationId, **changes: Any) -> None:
        if not is_id(notification_id):
            raise NotFound("Notification not found")
        try:
            await self._documents.write(Update(_path(uid, notification_id), changes))
        except PreconditionFailed as missing:
            raise NotFound("Notification not found") from missing


def addition(uid: UserId, notification: Notification) -> Create:
    """Return the write that stores a new notification."""
    return Create(_path(uid, notification.id), dump(notification))


def _path(uid: UserId, notification_id: NotificationId) -> str:
    return f"users/{uid}/inbox/{notification_id}"
