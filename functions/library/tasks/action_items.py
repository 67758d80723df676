"""Action items over HTTP: list, write, change, complete, arrange, search and delete.

Also called: to-do list, todos, task management.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from functions.library.pagination import OffsetPage, count_rest
from functions.library.schemas import LibrarySearchIn
from functions.library.tasks.action_item_schemas import (
    MAX_PLACES_BYTES,
    ActionItemChangeIn,
    ActionItemHitsOut,
    ActionItemListOut,
    ActionItemOut,
    ActionItemPlaceIn,
    ActionItemPlacesIn,
    ActionItemsAddedOut,
    ActionItemsChangedOut,
    ActionItemsIn,
    ActionItemsQuery,
    ActionItemSyncIn,
    CompletedQuery,
    list_owners,
)
from shared.domain.errors import NotFound
from shared.domain.ids import ActionItemId, ConversationId, UserId
from shared.domain.tasks.action_item import CONTENT_FIELDS, ActionItem
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.library.deps import LibraryDeps
from shared.library.record_schemas import ActionItemIn
from shared.library.task_reminders import announce_tasks


@route("GET", "/v1/action-items", "List action items, newest first", errors=(401, 422))
async def list_action_items(
    deps: LibraryDeps, call: Call[None, ActionItemsQuery]
) -> ActionItemListOut:
    query, store = call.query, deps.stores.action_items
    owners, where = list_owners(query.owner), query.to_filter().to_where()
    listed = await store.list_owned_page(
        call.uid,
        owners,
        limit=query.limit,
        after=query.cursor if not query.offset else None,
        offset=query.offset,
        where=where,
    )
    page = await count_rest(
        OffsetPage(items=listed.items, has_more=listed.next is not None),
        partial(store.count_owned, call.uid, owners, where=where),
    )
    return ActionItemListOut(
        action_items=list(map(ActionItemOut.model_validate, page.items)),
        has_more=page.has_more,
        next_cursor=None if query.offset else listed.next,
        total=page.total,
    )


@route(
    "POST", "/v1/action-items", "Write down something to do", errors=(400, 401, 409, 413, 415, 422)
)
async def add_action_item(deps: LibraryDeps, call: CreatingCall[ActionItemIn]) -> ActionItemOut:
    (added,) = await _add(deps, call, [(call.operation.name, call.body)])
    return added


@route(
    "POST",
    "/v1/action-items/batch",
    "Write down several things to do, all or none",
    errors=(400, 401, 409, 413, 415, 422),
    max_bytes=MAX_PLACES_BYTES,
)
async def add_action_items(
    deps: LibraryDeps, call: CreatingCall[ActionItemsIn]
) -> ActionItemsAddedOut:
    parts = [(call.operation.build_part(n).name, item) for n, item in enumerate(call.body.root)]
    added = await _add(deps, call, parts)
    return ActionItemsAddedOut(action_items=added, created_count=len(added))


@route("GET", "/v1/action-items/{action_item_id}", "Read an action item", errors=(401, 404))
async def get_action_item(deps: LibraryDeps, call: Call) -> ActionItemOut:
    return ActionItemOut.model_validate(
        await deps.stores.action_items.get(call.uid, _path_id(call))
    )


@route(
    "PATCH",
    "/v1/action-items/batch",
    "Change the order and indentation of action items",
    errors=(400, 401, 404, 413, 415, 422),
    max_bytes=MAX_PLACES_BYTES,
)
async def arrange_action_items(
    deps: LibraryDeps, call: Call[ActionItemPlacesIn]
) -> ActionItemsChangedOut:
    return await change_each(deps, call.uid, call.body.items)


@route(
    "PATCH",
    "/v1/action-items/{action_item_id}",
    "Change an action item",
    errors=(400, 401, 404, 413, 415, 422),
)
async def change_action_item(deps: LibraryDeps, call: Call[ActionItemChangeIn]) -> ActionItemOut:
    return await _change(deps, call, call.body.to_changes())


@route(
    "PATCH",
    "/v1/action-items/{action_item_id}/completed",
    "Complete an action item, or open it again",
    errors=(401, 404, 422),
)
async def complete_action_item(
    deps: LibraryDeps, call: Call[None, CompletedQuery]
) -> ActionItemOut:
    return await _change(deps, call, {"completed": call.query.completed})


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
    if item.due_at:
        await announce_tasks(deps, call.uid, [item], "action_item_delete")


@route(
    "POST",
    "/v1/action-items/search",
    "Find action items, best first",
    errors=(400, 401, 413, 415, 422),
)
async def search_action_items(deps: LibraryDeps, call: Call[LibrarySearchIn]) -> ActionItemHitsOut:
    found = await deps.stores.action_items.search(call.uid, call.body.query, limit=call.body.limit)
    return ActionItemHitsOut(
        action_items=list(map(ActionItemOut.model_validate, found.items)), has_more=found.has_more
    )


async def change_each(
    deps: LibraryDeps, uid: UserId, changes: Sequence[ActionItemPlaceIn | ActionItemSyncIn]
) -> ActionItemsChangedOut:
    """Change tasks of the owner, each on its own, together.

    Those that were deleted meanwhile are left out: a phone sends what it still holds. Raises NotFound
    if it sends nothing else.
    """
    changes_by_id: dict[str, dict[str, Any]] = {}
    for change in changes:
        changes_by_id[change.id] = {**changes_by_id.get(change.id, {}), **change.to_changes()}
    items = await deps.stores.action_items.update(uid, changes_by_id, deps.clock.now())
    await _announce(deps, uid, items, changes_by_id)
    if changes and not items:
        raise NotFound("Action item not found")
    return ActionItemsChangedOut(updated_count=len(items))


async def _add(
    deps: LibraryDeps, call: Call[Any, Any], parts: Sequence[tuple[str, ActionItemIn]]
) -> list[ActionItemOut]:
    """Store tasks under these names, unless they bring ids of their own: all of them, or none."""
    now = deps.clock.now()
    items = [
        ActionItem(
            id=ActionItemId(body.id or name),
            description=body.description,
            created_at=now,
            updated_at=now,
            completed=body.completed,
            completed_at=now if body.completed else None,
            due_at=body.due_at,
            conversation_id=ConversationId(body.conversation_id) if body.conversation_id else None,
            edited=True,
            read_kinds=call.read_kinds,
        )
        for name, body in parts
    ]
    stored = await deps.stores.action_items.add_all(call.uid, items)
    dated = [item for item in stored if item.due_at]
    await announce_tasks(deps, call.uid, dated, "action_item_reminder")
    return list(map(ActionItemOut.model_validate, stored))


async def _change(
    deps: LibraryDeps, call: Call[Any, Any], changes: Mapping[str, Any]
) -> ActionItemOut:
    changes_by_id = {_path_id(call): changes}
    items = await deps.stores.action_items.update(
        call.uid, changes_by_id, deps.clock.now(), call.read_kinds
    )
    if not items:
        raise NotFound("Action item not found")
    await _announce(deps, call.uid, items, changes_by_id)
    return ActionItemOut.model_validate(items[0])


async def _announce(
    deps: LibraryDeps,
    uid: UserId,
    items: Sequence[ActionItem],
    changes_by_id: Mapping[str, Mapping[str, Any]],
) -> None:
    """Tell phones of tasks with a day whose content was changed, and of those that lost it."""
    dated = [
        item
        for item in items
        if CONTENT_FIELDS & (changes := changes_by_id[item.id]).keys()
        if item.due_at or "due_at" in changes
    ]
    await announce_tasks(deps, uid, dated)


def _path_id(call: Call[Any, Any]) -> str:
    return call.path["action_item_id"]


ROUTES = (
    list_action_items,
    add_action_item,
    add_action_items,
    search_action_items,
    get_action_item,
    arrange_action_items,
    change_action_item,
    complete_action_item,
    delete_action_item,
)
