"""Task reminders on phones: messages without text, by which the app plans, moves or drops a reminder."""

from collections.abc import Mapping, Sequence

from functions.notifications.deps import NotificationsDeps
from functions.notifications.push import build_push_message, push
from shared.domain.account.notification import Delivery
from shared.domain.errors import Unavailable
from shared.domain.ids import ActionItemId, UserId
from shared.domain.tasks.action_item import ActionItem
from shared.library.task_reminders import ReminderKind


async def deliver_task_reminder(
    deps: NotificationsDeps, uid: UserId, item_id: ActionItemId, kind: ReminderKind
) -> None:
    """Send a task as it is now, so that neither order nor repetition matters.

    Raises Unavailable while a retry may reach more devices.
    """
    items = await deps.stores.action_items.get_many(uid, [item_id])
    message = build_push_message(
        uid, f"task-{item_id}", title="", body="", data=_build_data(item_id, items, kind)
    )
    delivery = await push(deps, uid, message, Delivery())
    if not delivery.is_over:
        raise Unavailable("Some devices cannot be reached now")


def _build_data(
    item_id: ActionItemId, items: Sequence[ActionItem], kind: ReminderKind
) -> Mapping[str, str]:
    """Build what the app reads. A task that is gone, done, another's or without a day has no reminder."""
    for item in items:
        if item.due_at and not item.completed and item.owner == "me":
            return {
                "type": "action_item_reminder"
                if kind == "action_item_reminder"
                else "action_item_update",
                "action_item_id": item_id,
                "description": item.description,
                "due_at": item.due_at.isoformat(),
            }
    return {"type": "action_item_delete", "action_item_id": item_id}
