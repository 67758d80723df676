"""Task tools: what the owner wants done."""

from typing import Annotated

from pydantic import Field

from functions.library.programs.mcp_server.library_tool import Result, build_list, tool
from functions.library.programs.program_schemas import Offset, ProgramTaskOut
from functions.library.programs.route_calls import call_route
from functions.library.schemas import LibrarySearchIn
from functions.library.tasks import action_items
from functions.library.tasks.action_item_schemas import (
    ActionItemContentIn,
    ActionItemOut,
    OwnerFilter,
)
from shared.domain.ids import UserId
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import ClientId
from shared.library.deps import LibraryDeps
from shared.library.record_schemas import ActionItemIn


class TasksFilter(Wire):
    """Without `owner`, only what the user has to do; others' tasks are what they promised."""

    owner: OwnerFilter = "me"
    completed: bool | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    offset: Offset = 0


class TaskName(Wire):
    action_item_id: ClientId


class TaskChange(TaskName, ActionItemContentIn):
    """Omitted fields keep their value; `due_at: null` removes the date."""


class TaskCompletion(TaskName):
    completed: bool = True


@tool("read", "List what the owner wants done, newest first.")
async def get_action_items(deps: LibraryDeps, uid: UserId, filters: TasksFilter) -> Result:
    query = filters.model_dump(exclude_none=True)
    listed = await call_route(deps, uid, action_items.list_action_items, query=query)
    shown = list(map(ProgramTaskOut.model_validate, listed.action_items))
    return build_list(
        "action_items",
        shown,
        has_more=listed.has_more,
        next_offset=filters.offset + filters.limit,
        total=listed.total,
    )


@tool("read", "Find what the owner wants done, best first.")
async def search_action_items(deps: LibraryDeps, uid: UserId, search: LibrarySearchIn) -> Result:
    found = await call_route(deps, uid, action_items.search_action_items, body=dict(search))
    shown = list(map(ProgramTaskOut.model_validate, found.action_items))
    return build_list("action_items", shown, has_more=found.has_more)


@tool("write", "Write down something that the owner wants done.")
async def create_action_item(deps: LibraryDeps, uid: UserId, item: ActionItemIn) -> Result:
    return _build_result(await call_route(deps, uid, action_items.add_action_item, body=dict(item)))


@tool("write", "Change what the owner wants done; what is left out keeps its value.")
async def update_action_item(deps: LibraryDeps, uid: UserId, change: TaskChange) -> Result:
    changes = change.model_dump(exclude_unset=True, exclude={"action_item_id"})
    path = {"action_item_id": change.action_item_id}
    return _build_result(
        await call_route(deps, uid, action_items.change_action_item, path=path, body=changes)
    )


@tool("write", "Mark as done what the owner wanted done, or open it again.")
async def complete_action_item(
    deps: LibraryDeps, uid: UserId, completion: TaskCompletion
) -> Result:
    path, query = (
        {"action_item_id": completion.action_item_id},
        {"completed": completion.completed},
    )
    return _build_result(
        await call_route(deps, uid, action_items.complete_action_item, path=path, query=query)
    )


@tool("delete", "Delete something that the owner wanted done, for good.")
async def delete_action_item(deps: LibraryDeps, uid: UserId, item: TaskName) -> Result:
    await call_route(deps, uid, action_items.delete_action_item, path=dict(item))
    return {"success": True}


def _build_result(item: ActionItemOut) -> Result:
    return {"success": True, "action_item": ProgramTaskOut.model_validate(item)}


TOOLS = (
    get_action_items,
    search_action_items,
    create_action_item,
    update_action_item,
    complete_action_item,
    delete_action_item,
)
