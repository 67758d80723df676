"""Webhook deliveries: which conversations were announced to whom, and which deliveries are done."""

from contextlib import suppress
from datetime import datetime

from shared.data.store.codec import dump, load
from shared.domain.apps.webhook import ANNOUNCEMENT_TTL, Announcement
from shared.domain.errors import AlreadyExists, PreconditionFailed
from shared.domain.ids import ConversationId, UserId
from shared.domain.store.documents import Create, Update
from shared.ports import Documents


class WebhookDeliveries:
    """A conversation is announced once; a delivery that is done is not made again."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get_announcement(
        self, uid: UserId, conversation_id: ConversationId
    ) -> Announcement | None:
        document = await self._documents.get(_announcement_path(uid, conversation_id))
        return load(Announcement, document) if document else None

    async def announce(self, uid: UserId, announcement: Announcement) -> Announcement:
        """Store who is to hear of a conversation; return the earlier decision if there is one."""
        path = _announcement_path(uid, announcement.id)
        with suppress(AlreadyExists):
            await self._documents.write(Create(path, dump(announcement)))
        return await self.get_announcement(uid, announcement.id) or announcement

    async def mark_queued(self, uid: UserId, conversation_id: ConversationId) -> None:
        with suppress(PreconditionFailed):  # its user was erased
            path = _announcement_path(uid, conversation_id)
            await self._documents.write(Update(path, {"is_queued": True}))

    async def is_done(self, uid: UserId, delivery_id: str) -> bool:
        return await self._documents.get(_done_path(uid, delivery_id)) is not None

    async def mark_done(self, uid: UserId, delivery_id: str, now: datetime) -> None:
        with suppress(AlreadyExists):
            fields = {"done_at": now, "expires_at": now + ANNOUNCEMENT_TTL}
            await self._documents.write(Create(_done_path(uid, delivery_id), fields))


def _announcement_path(uid: UserId, conversation_id: ConversationId) -> str:
    return f"users/{uid}/webhook_announcements/{conversation_id}"


def _done_path(uid: UserId, delivery_id: str) -> str:
    return f"users/{uid}/webhook_deliveries/{delivery_id}"
