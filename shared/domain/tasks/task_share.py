"""Task share: a link by which others read some tasks of a user, and take copies of them."""

import hashlib
from datetime import datetime, timedelta

from shared.domain.ids import ActionItemId, UserId
from shared.domain.tasks.action_item import ActionItem
from shared.domain.value import value

LIFETIME = timedelta(days=30)


@value
class TaskShare:
    """`id` is the hash of the link's token, which is not stored. All times in UTC."""

    id: str
    uid: UserId
    task_ids: tuple[ActionItemId, ...]
    created_at: datetime
    expires_at: datetime


def build_share_id(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def copy_shared_task(share: TaskShare, task: ActionItem, now: datetime) -> ActionItem:
    """Return a task as whoever accepts the share gets it; the same one each time.

    Of the original it has only what the link shows: its words and its date.
    """
    name = hashlib.sha256(f"{share.id}/{task.id}".encode()).hexdigest()[:32]
    return ActionItem(
        id=ActionItemId(name),
        description=task.description,
        due_at=task.due_at,
        created_at=now,
        updated_at=now,
        edited=True,
        read_kinds=("import",),
    ).with_wording()
