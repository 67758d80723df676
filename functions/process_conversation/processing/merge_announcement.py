"""Merge announcement: tells the owner's phones to show one conversation in place of several."""

from contextlib import suppress
from datetime import datetime

from shared import telemetry
from shared.data.stores import Stores
from shared.domain.account.notification import Notification, NotificationId
from shared.domain.conversations.merge import Merge
from shared.domain.errors import AlreadyExists
from shared.domain.ids import AppId, ConversationId, UserId
from shared.ports import Tasks

SENDER = AppId("keepsake")


async def announce_merge(
    stores: Stores, tasks: Tasks, uid: UserId, merged_id: ConversationId, *, now: datetime
) -> None:
    """Push it once the merged conversation can be shown; a repeat pushes nothing again."""
    merge = await stores.merges.find(uid, merged_id)
    if merge is None or not merge.can_be_undone(now):
        return
    notification = _build_notification(merge)
    with suppress(AlreadyExists):  # written by an earlier attempt
        await stores.inbox.add(uid, notification)
    name = f"{notification.id}-{telemetry.hash_id(uid)}"
    await tasks.create("deliver_notification", name, {"uid": uid, "id": notification.id})


def _build_notification(merge: Merge) -> Notification:
    """Build what the mobile app reads, and no person: it has no title."""
    return Notification(
        id=NotificationId(f"merge-{merge.id}"),
        app_id=SENDER,
        title="",
        body="",
        created_at=merge.merged_at,
        data={
            "type": "merge_completed",
            "merged_conversation_id": merge.id,
            "removed_conversation_ids": ",".join(merge.source_ids),
        },
    )
