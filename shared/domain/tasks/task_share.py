"""Task share: a link by which others read some tasks of a user, and take copies of them."""

import hashlib
from datetime import datetime, timedelta

from shared.domain.ids import ActionItemId, UserId
from shared.domain.tasks.action_item import ActionItem
from shared.domain.value import value

LIFETIME = timedelta(days=30)


@value
class SharedTask:
    """What a link shows of a task: its words and its date, as they were when it was shared."""

    id: ActionItemId
    description: str
    due_at: datetime | None


@value
class TaskShare:
    """`id` is the hash of the link's token, which is not stored. All times in UTC."""

    id: str
    uid: UserId
    created_at: datetime
    expires_at: datetime
    tasks: tuple[SharedTask, ...] = ()


def build_share_id(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def snapshot_task(task: ActionItem) -> SharedTask:
    return SharedTask(id=task.id, description=task.description, due_at=task.due_at)


def copy_shared_task(share: TaskShare, task: SharedTask, now: datetime) -> ActionItem:
    """Return a task as whoever accepts the share gets it; the same one each time."""
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
