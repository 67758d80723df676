"""Task tools: list, create and change the owner's action items."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, StringConstraints, model_validator

from functions.chat.consent.call_words import Item
from functions.chat.consent.taint import Taint
from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import (
    ChangeResult,
    ResultRenderer,
    Tool,
    WordedResult,
    render_fixed,
)
from shared.arguments import Arguments, Date
from shared.data.tasks.action_items import MAX_SEARCHED
from shared.domain.chats.library_change import LibraryChange, describe_change
from shared.domain.conversations.day_words import describe_time
from shared.domain.errors import NotFound, ToolRefused
from shared.domain.ids import ActionItemId, UserId
from shared.domain.provenance import describe_origin
from shared.domain.tasks.action_item import ActionItem
from shared.domain.tasks.owner_words import name_owner
from shared.domain.value import value
from shared.domain.words import normalise
from shared.languages import translate
from shared.library.task_reminders import announce_tasks

CREATED = "Created:"
CHANGED = "Changed:"
EXISTS = "This task is there already:"
NEWEST_TASKS = "There are {count} such tasks; these are the newest."
FURTHER_TASKS = "There are {count} such tasks; these are further ones."
NEXT_TASKS = "The next begin at offset {offset}. Do not count these as all."
NOT_ALL_READ = f"Only the newest {MAX_SEARCHED} tasks were looked through."
NO_TASKS = "There are no such tasks."
NO_SUCH_TASK = "There is no such task. Call get_action_items for the ids."
DUE = ", due {time}"
DONE = " (done)"

Description = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    Field(description="What is to be done, in the owner's language."),
]


class GetActionItems(Arguments):
    """List tasks, newest first: the owner's own, or what others promised or were asked to do.

    `due_end_date` is not included.
    """

    completed: Annotated[bool | None, Field(description="Left out: both.")] = None
    due_start_date: Date = None
    due_end_date: Date = None
    owner: Annotated[
        Literal["me", "other", "unknown", "all"] | None,
        Field(description="Whose tasks; left out: the owner's own."),
    ] = None
    owner_name: Annotated[
        str | None,
        Field(max_length=64, description="Only tasks of the person of this name."),
    ] = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    offset: Annotated[int, Field(ge=0, le=500)] = 0


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

    @model_validator(mode="after")
    def _check_changes(self) -> "UpdateActionItem":
        if not self.model_dump(exclude={"action_item_id"}, exclude_none=True):
            raise ValueError("update_action_item needs something to change")
        return self


@value
class _Reader:
    """Whoever reads the results: on their clock, in their language."""

    zone: ZoneInfo
    language: str | None


def build_task_tools(
    deps: ChatDeps,
    uid: UserId,
    zone: ZoneInfo,
    language: str | None = None,
    *,
    taint: Taint,
) -> list[Tool]:
    """Return the tools in a fixed order, which keeps the provider's prompt cache warm.

    Their results tell times in the owner's zone, and people read them in their language.
    """
    reader = _Reader(zone=zone, language=language)
    build_read_tool = partial(build_builtin_tool, tool_class="read")
    build_change_tool = partial(build_builtin_tool, tool_class="write")
    return [
        build_read_tool(
            "get_action_items",
            "Checking action items",
            GetActionItems,
            partial(_get_action_items, deps, uid, reader),
        ),
        build_change_tool(
            "create_action_item",
            "Creating action item",
            CreateActionItem,
            partial(_create_action_item, deps, uid, reader, taint),
        ),
        build_change_tool(
            "update_action_item",
            "Updating action item",
            UpdateActionItem,
            partial(_update_action_item, deps, uid, reader, taint),
            name_items=partial(_name_task, deps, uid),
        ),
    ]


async def _get_action_items(
    deps: ChatDeps, uid: UserId, reader: _Reader, arguments: GetActionItems
) -> ResultRenderer:
    items = await deps.stores.action_items.list_newest(uid, limit=MAX_SEARCHED + 1)
    requested = [item for item in items[:MAX_SEARCHED] if _is_requested(item, arguments)]
    not_all_read = [NOT_ALL_READ] if len(items) > MAX_SEARCHED else []
    if not requested:
        text = "\n".join([NO_TASKS, *not_all_read])
        return WordedResult(render=render_fixed(text), shown_text=NO_TASKS)
    end = arguments.offset + arguments.limit
    listed = requested[arguments.offset : end]
    has_more = len(requested) > end
    return _render_worded(
        _choose_heading(arguments.offset, has_more=has_more),
        listed,
        reader,
        notes=[*([NEXT_TASKS.format(offset=end)] if has_more else []), *not_all_read],
        names_user=arguments.owner == "all",
        count=len(requested),
    )


def _choose_heading(offset: int, *, has_more: bool) -> str:
    if offset:
        return FURTHER_TASKS
    return NEWEST_TASKS if has_more else ""


async def _create_action_item(
    deps: ChatDeps,
    uid: UserId,
    reader: _Reader,
    taint: Taint,
    arguments: CreateActionItem,
) -> ResultRenderer:
    existing_item = await deps.stores.action_items.find_open(uid, arguments.description)
    if existing_item is not None:
        return _render_worded(EXISTS, [existing_item], reader)
    now = deps.clock.now()
    item = ActionItem(
        id=ActionItemId(deps.new_id()),
        description=arguments.description,
        created_at=now,
        updated_at=now,
        due_at=arguments.due_at,
        edited=True,
        read_kinds=await taint.find_kinds(arguments.description),
    )
    created_item = await deps.stores.action_items.add(uid, item)
    if created_item.due_at:
        await announce_tasks(deps, uid, [created_item], "action_item_reminder")
    return _render_change(deps, reader, CREATED, None, created_item)


async def _update_action_item(
    deps: ChatDeps,
    uid: UserId,
    reader: _Reader,
    taint: Taint,
    arguments: UpdateActionItem,
) -> ResultRenderer:
    now = deps.clock.now()
    changes = arguments.model_dump(exclude={"action_item_id"}, exclude_none=True)
    if arguments.completed is not None:
        changes["completed_at"] = now if arguments.completed else None
    if arguments.description is not None:
        changes["read_kinds"] = await taint.find_kinds(arguments.description)
    try:
        before, after = await deps.stores.action_items.change_from(
            uid, arguments.action_item_id, updated_at=now, edited=True, **changes
        )
    except NotFound as error:
        raise ToolRefused(NO_SUCH_TASK) from error
    if before.due_at or after.due_at:
        await announce_tasks(deps, uid, [after])
    return _render_change(deps, reader, CHANGED, before, after)


async def _name_task(
    deps: ChatDeps, uid: UserId, arguments: UpdateActionItem
) -> Mapping[str, Item]:
    try:
        task = await deps.stores.action_items.get(uid, ActionItemId(arguments.action_item_id))
    except NotFound as error:
        raise ToolRefused(NO_SUCH_TASK) from error
    return {task.id: Item(name=task.description)}


def _render_change(
    deps: ChatDeps, reader: _Reader, heading: str, before: ActionItem | None, after: ActionItem
) -> ResultRenderer:
    change = LibraryChange(
        id=deps.new_id(), text=describe_change(before, after), before=before, after=after
    )
    return ChangeResult(
        text=f"{heading}\n{_format_item(after, reader.zone)}",
        shown_text=f"{translate(heading, reader.language)}\n{_describe_item(after, reader)}",
        change=change,
    )


def _is_requested(item: ActionItem, arguments: GetActionItems) -> bool:
    if not _is_of_requested_owner(item, arguments):
        return False
    if arguments.completed is not None and item.completed != arguments.completed:
        return False
    start, end = arguments.due_start_date, arguments.due_end_date
    if start is None and end is None:
        return True
    due = item.due_at
    return due is not None and (start is None or due >= start) and (end is None or due < end)


def _is_of_requested_owner(item: ActionItem, arguments: GetActionItems) -> bool:
    """Tell whether it is the task of whom was asked for; a name may be part of the whole one."""
    if arguments.owner_name and arguments.owner in (None, "other", "all"):
        asked_words = normalise(arguments.owner_name).split()
        return set(asked_words) <= set(normalise(item.owner_name or "").split())
    return arguments.owner == "all" or item.owner == (arguments.owner or "me")


def _render_worded(
    heading: str,
    items: Sequence[ActionItem],
    reader: _Reader,
    *,
    notes: Sequence[str] = (),
    names_user: bool = False,
    **slots: object,
) -> ResultRenderer:
    """Give the model ids, times and notes, and people the same tasks in their words.

    With `names_user` the owner's own tasks say whose they are, as those of others do.
    """

    def join(heading: str, lines: Iterable[str]) -> str:
        return "\n".join(filter(None, [heading, *lines]))

    lines = [_format_item(item, reader.zone, names_user=names_user) for item in items]
    text = join(translate(heading, None, **slots), [*lines, *notes])
    shown_heading = translate(heading, reader.language, **slots)
    shown_text = join(shown_heading, (_describe_item(item, reader) for item in items))
    return WordedResult(render=render_fixed(text), shown_text=shown_text)


def _format_item(item: ActionItem, zone: ZoneInfo, *, names_user: bool = False) -> str:
    state = "done" if item.completed else "open"
    local_due = item.due_at.astimezone(zone) if item.due_at else None
    due = f", due {local_due.isoformat(timespec='minutes')}" if local_due else ""
    named = name_owner(item.owner, item.owner_name)
    owner = f"{named}: " if item.owner != "me" or names_user else ""
    origin = describe_origin(item.read_kinds)
    details = filter(None, [f"{state}{due}", f"id {item.id}", origin])
    text = " ".join(f"{owner}{item.description}".split())  # a further line would be another task
    return f"- {text} ({', '.join(details)})"


def _describe_item(item: ActionItem, reader: _Reader) -> str:
    due = describe_time(item.due_at, reader.zone, reader.language) if item.due_at else ""
    shown_due = translate(DUE, reader.language, time=due) if due else ""
    state = translate(DONE, reader.language) if item.completed else ""
    return f"- {item.description}{shown_due}{state}"
