"""Task reminders: phones are told of tasks whose day came, changed or went, and remind by themselves.

Also called: due date reminders.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Literal, Protocol

from shared import telemetry
from shared.data.stores import Stores
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.domain.tasks.action_item import ActionItem
from shared.ports import Tasks

ReminderKind = Literal["action_item_reminder", "action_item_update", "action_item_delete"]


"""The occasion; the message says what is true when it is sent."""


class ReminderDeps(Protocol):
    """The part of a function's dependencies that telling phones needs."""

    @property
    def tasks(self) -> Tasks: ...

    @property
    def stores(self) -> Stores: ...


async def announce_tasks(
    deps: ReminderDeps,
    uid: UserId,
    items: Sequence[ActionItem],
    kind: ReminderKind = "action_item_update",
) -> None:
    """Tell the owner's phones of tasks, as they are when the message is sent.

    Call it whether or not a task changed: a repeat makes up for an attempt that ended before it. If it
    cannot be queued now, it is left out: phones also read the list.
    """
    with suppress(Unavailable):
        if items and await deps.stores.devices.list_all(uid):
            for item in items:
                body = {"uid": uid, "id": item.id, "kind": kind}
                await deps.tasks.create("deliver_notification", _name_task(uid, item, kind), body)


def _name_task(uid: UserId, item: ActionItem, kind: ReminderKind) -> str:
    """Name each version of a task anew: a name that was used is not taken again for an hour."""
    version = f"{item.updated_at:%Y%m%dT%H%M%S%f}"
    return f"{kind}-{telemetry.hash_id(uid)}-{item.id}-{version}"
