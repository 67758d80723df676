"""Task tools: list, create and change the owner's action items."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from pydantic import Field, StringConstraints

from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import ChangeResult, ResultRenderer, Tool, render_fixed
from shared.arguments import Arguments, Date
from shared.data.action_items import MAX_SEARCHED
from shared.domain.action_item import ActionItem
from shared.domain.errors import NotFound, ToolRefused
from shared.domain.ids import ActionItemId, UserId
from shared.domain.library_change import LibraryChange, describe_change

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


def build_task_tools(deps: ChatDeps, uid: UserId) -> list[Tool]:
    """Return the tools in a fixed order, which keeps the provider's prompt cache warm."""
    build_read_tool = partial(build_builtin_tool, tool_class="read")
    build_change_tool = partial(build_builtin_tool, tool_class="write")
    return [
        build_read_tool(
            "get_action_items",
            "Checking action items",
            GetActionItems,
            partial(_get_action_items, deps, uid),
        ),
        build_change_tool(
            "create_action_item",
            "Creating action item",
            CreateActionItem,
            partial(_create_action_item, deps, uid),
        ),
        build_change_tool(
            "update_action_item",
            "Updating action item",
            UpdateActionItem,
            partial(_update_action_item, deps, uid),
        ),
    ]


async def _get_action_items(
    deps: ChatDeps, uid: UserId, arguments: GetActionItems
) -> ResultRenderer:
    items = await deps.stores.action_items.list_newest(uid, limit=MAX_SEARCHED)
    return _render_items(
        [item for item in items if _is_requested(item, arguments)][: arguments.limit]
    )


async def _create_action_item(
    deps: ChatDeps, uid: UserId, arguments: CreateActionItem
) -> ResultRenderer:
    existing_item = await deps.stores.action_items.find_open(uid, arguments.description)
    if existing_item is not None:
        return render_fixed(f"This task is there already:\n{_format_item(existing_item)}")
    now = deps.clock.now()
    item = ActionItem(
        id=ActionItemId(deps.new_id()),
        description=arguments.description,
        created_at=now,
        updated_at=now,
        due_at=arguments.due_at,
        edited=True,
    )
    created_item = await deps.stores.action_items.add(uid, item)
    return _render_change(deps, "Created", None, created_item)


async def _update_action_item(
    deps: ChatDeps, uid: UserId, arguments: UpdateActionItem
) -> ResultRenderer:
    now = deps.clock.now()
    changes = arguments.model_dump(exclude={"action_item_id"}, exclude_none=True)
    if arguments.completed is not None:
        changes["completed_at"] = now if arguments.completed else None
    try:
        before, after = await deps.stores.action_items.change_from(
            uid, arguments.action_item_id, updated_at=now, edited=True, **changes
        )
    except NotFound as error:
        raise ToolRefused("There is no such task. Call get_action_items for the ids.") from error
    return _render_change(deps, "Changed", before, after)


def _render_change(
    deps: ChatDeps, verb: str, before: ActionItem | None, after: ActionItem
) -> ResultRenderer:
    change = LibraryChange(
        id=deps.new_id(), text=describe_change(before, after), before=before, after=after
    )
    return ChangeResult(text=f"{verb}:\n{_format_item(after)}", change=change)


def _is_requested(item: ActionItem, arguments: GetActionItems) -> bool:
    if arguments.completed is not None and item.completed != arguments.completed:
        return False
    start, end = arguments.due_start_date, arguments.due_end_date
    if start is None and end is None:
        return True
    due = item.due_at
    return due is not None and (start is None or due >= start) and (end is None or due < end)


def _render_items(items: Sequence[ActionItem]) -> ResultRenderer:
    return render_fixed("\n".join(map(_format_item, items)) or "There are no such tasks.")


def _format_item(item: ActionItem) -> str:
    state = "done" if item.completed else "open"
    due = f", due {item.due_at.isoformat(timespec='minutes')}" if item.due_at else ""
    return f"- {item.description} ({state}{due}, id {item.id})"
