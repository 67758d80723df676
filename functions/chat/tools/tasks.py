"""The tools that look after what the owner wants done (P5)."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from pydantic import Field, StringConstraints

from functions.chat.tools.own import own_tool
from functions.chat.tools.toolkit import Present, Tool, say
from functions.chat.wiring import ChatDeps
from shared.arguments import Arguments, Date
from shared.data.tasks import LOOKED_THROUGH
from shared.domain.errors import NotFound, ToolRefused
from shared.domain.ids import ActionItemId, UserId
from shared.domain.task import ActionItem

Description = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    Field(description="What is to be done, in the owner's language."),
]


class GetActionItems(Arguments):
    """List the owner's tasks, newest first; `due_end_date` is not included."""

    completed: Annotated[bool | None, Field(description="Left out: both.")] = None
    due_start_date: Date = None
    due_end_date: Date = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class CreateActionItem(Arguments):
    """Write down a task, when the owner asks for it."""

    description: Description
    due_at: Date = None


class UpdateActionItem(Arguments):
    """Change, complete or reopen a task; its id comes from get_action_items."""

    action_item_id: Annotated[str, Field(max_length=64)]
    completed: bool | None = None
    description: Description | None = None
    due_at: Date = None


def task_tools(deps: ChatDeps, uid: UserId) -> list[Tool]:
    """Return the tools in a fixed order, which keeps the provider's prompt cache warm."""

    async def get_action_items(asked: GetActionItems) -> Present:
        found = await deps.action_items.newest(uid, limit=LOOKED_THROUGH)
        return _listed([item for item in found if _is_asked_for(item, asked)][: asked.limit])

    async def create_action_item(asked: CreateActionItem) -> Present:
        known = await deps.action_items.open_like(uid, asked.description)
        if known is not None:
            return say(f"This task is there already:\n{_line(known)}")
        now = deps.clock.now()
        item = ActionItem(
            id=ActionItemId(deps.new_id()),
            description=asked.description,
            created_at=now,
            updated_at=now,
            due_at=asked.due_at,
            edited=True,
        )
        return say(f"Created:\n{_line(await deps.action_items.add(uid, item))}")

    async def update_action_item(asked: UpdateActionItem) -> Present:
        now = deps.clock.now()
        changes = asked.model_dump(exclude={"action_item_id"}, exclude_none=True)
        if asked.completed is not None:
            changes["completed_at"] = now if asked.completed else None
        try:
            changed = await deps.action_items.change(
                uid, asked.action_item_id, updated_at=now, edited=True, **changes
            )
        except NotFound as missing:
            raise ToolRefused("There is no such task; get_action_items tells the ids.") from missing
        return say(f"Changed:\n{_line(changed)}")

    read = partial(own_tool, side_effect=False)
    change = partial(own_tool, side_effect=True)
    return [
        read("get_action_items", "Checking action items", GetActionItems, get_action_items),
        change("create_action_item", "Creating action item", CreateActionItem, create_action_item),
        change("update_action_item", "Updating action item", UpdateActionItem, update_action_item),
    ]


def _is_asked_for(item: ActionItem, asked: GetActionItems) -> bool:
    if asked.completed is not None and item.completed != asked.completed:
        return False
    start, end = asked.due_start_date, asked.due_end_date
    if start is None and end is None:
        return True
    due = item.due_at
    return due is not None and (start is None or due >= start) and (end is None or due < end)


def _listed(items: Sequence[ActionItem]) -> Present:
    return say("\n".join(map(_line, items)) or "There are no such tasks.")


def _line(item: ActionItem) -> str:
    state = "done" if item.completed else "open"
    due = f", due {item.due_at.isoformat(timespec='minutes')}" if item.due_at else ""
    return f"- {item.description} ({state}{due}, id {item.id})"
