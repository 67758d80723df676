"""Action items over HTTP: list, write, change, complete, search and delete."""

from datetime import datetime
from typing import Any

from functions.process_conversation.deps import LibraryDeps
from functions.process_conversation.library.pagination import list_page
from functions.process_conversation.library.schemas import (
    ActionItemChangeIn,
    ActionItemHitsOut,
    ActionItemIn,
    ActionItemListOut,
    ActionItemOut,
    CompletedQuery,
    LibrarySearchIn,
    OffsetPageQuery,
)
from shared.domain.action_item import ActionItem
from shared.domain.ids import ActionItemId, ConversationId
from shared.edge.routes import Call, route


@route("GET", "/v1/action-items", "List action items, newest first", errors=(401, 422))
async def list_action_items(
    deps: LibraryDeps, call: Call[None, OffsetPageQuery]
) -> ActionItemListOut:
    page = await list_page(deps.stores.action_items, call)
    return ActionItemListOut(
        action_items=list(map(ActionItemOut.model_validate, page.items)),
        has_more=page.has_more,
        next_cursor=page.next_cursor,
    )


@route(
    "POST", "/v1/action-items", "Write down something to do", errors=(400, 401, 409, 413, 415, 422)
)
async def add_action_item(deps: LibraryDeps, call: Call[ActionItemIn]) -> ActionItemOut:
    now, body = deps.clock.now(), call.body
    item = ActionItem(
        id=ActionItemId(body.id or deps.new_id()),
        description=body.description,
        created_at=now,
        updated_at=now,
        due_at=body.due_at,
        conversation_id=ConversationId(body.conversation_id) if body.conversation_id else None,
        edited=True,
        **_build_completion(body.completed, now),
    )
    return ActionItemOut.model_validate(await deps.stores.action_items.add(call.uid, item))


@route("GET", "/v1/action-items/{action_item_id}", "Read an action item", errors=(401, 404))
async def get_action_item(deps: LibraryDeps, call: Call) -> ActionItemOut:
    return ActionItemOut.model_validate(
        await deps.stores.action_items.get(call.uid, _path_id(call))
    )


@route(
    "PATCH",
    "/v1/action-items/{action_item_id}",
    "Change an action item",
    errors=(400, 401, 404, 413, 415, 422),
)
async def change_action_item(deps: LibraryDeps, call: Call[ActionItemChangeIn]) -> ActionItemOut:
    changes = call.body.model_dump(exclude_unset=True)
    values = {name: to for name, to in changes.items() if to is not None or name == "due_at"}
    if "completed" in values:
        values |= _build_completion(values["completed"], deps.clock.now())
    return await _change(deps, call, **values)


@route(
    "PATCH",
    "/v1/action-items/{action_item_id}/completed",
    "Complete an action item, or open it again",
    errors=(401, 404, 422),
)
async def complete_action_item(
    deps: LibraryDeps, call: Call[None, CompletedQuery]
) -> ActionItemOut:
    return await _change(deps, call, **_build_completion(call.query.completed, deps.clock.now()))


@route(
    "DELETE",
    "/v1/action-items/{action_item_id}",
    "Delete an action item; it does not come back",
    status=204,
    errors=(401, 404),
)
async def delete_action_item(deps: LibraryDeps, call: Call) -> None:
    item = await deps.stores.action_items.get(call.uid, _path_id(call))
    await deps.stores.action_items.delete_with_tombstone(call.uid, item)


@route(
    "POST",
    "/v1/action-items/search",
    "Find action items, best first",
    errors=(400, 401, 413, 415, 422),
)
async def search_action_items(deps: LibraryDeps, call: Call[LibrarySearchIn]) -> ActionItemHitsOut:
    items = await deps.stores.action_items.search(call.uid, call.body.query, limit=call.body.limit)
    return ActionItemHitsOut(action_items=list(map(ActionItemOut.model_validate, items)))


async def _change(deps: LibraryDeps, call: Call[Any, Any], **changes: Any) -> ActionItemOut:
    now = deps.clock.now()
    item = await deps.stores.action_items.change(
        call.uid, _path_id(call), updated_at=now, edited=True, **changes
    )
    return ActionItemOut.model_validate(item)


def _build_completion(completed: bool, now: datetime) -> dict[str, Any]:  # noqa: FBT001 - a stored value
    return {"completed": completed, "completed_at": now if completed else None}


def _path_id(call: Call[Any, Any]) -> str:
    return call.path["action_item_id"]


ROUTES = (
    list_action_items,
    add_action_item,
    search_action_items,
    get_action_item,
    change_action_item,
    complete_action_item,
    delete_action_item,
)
