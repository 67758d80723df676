"""Action items in the developer API."""

from starlette.responses import Response

from functions.library.programs.developer_api.developer_schemas import (
    DeveloperTaskChangeIn,
    DeveloperTaskIn,
    DeveloperTasksIn,
    DeveloperTasksQuery,
    SuccessOut,
    TasksCreatedOut,
)
from functions.library.programs.key_access import KeyOwner, authorize_developer_key
from functions.library.programs.listings import read_range
from functions.library.programs.program_schemas import ProgramTaskOut
from functions.library.programs.route_calls import call_route
from functions.library.tasks import action_items
from shared.edge.declare.pagination import build_array_response
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.library.deps import LibraryDeps

PATH = "/v1/dev/user/action-items"
MAX_BATCH_BYTES = 262_144


@route(
    "GET",
    PATH,
    "List action items, newest first, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("action_items:read"),
    errors=(401, 403, 422, 429),
)
async def list_owner_action_items(
    deps: LibraryDeps, call: Call[None, DeveloperTasksQuery, KeyOwner]
) -> list[ProgramTaskOut] | Response:
    uid, query = call.caller.uid, call.query
    start, end = await read_range(deps, uid, query.start_date, query.end_date)
    placed = query.model_dump(exclude_none=True) | {"start_date": start, "end_date": end}
    page = await call_route(deps, uid, action_items.list_action_items, query=placed)
    shown = list(map(ProgramTaskOut.model_validate, page.action_items))
    return build_array_response(shown, ProgramTaskOut, has_more=page.has_more, total=page.total)


@route(
    "POST",
    PATH,
    "Write down something to do, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("action_items:write"),
    errors=(401, 403, 429),
)
async def add_action_item(
    deps: LibraryDeps, call: CreatingCall[DeveloperTaskIn, None, KeyOwner]
) -> ProgramTaskOut:
    uid, add_route, body = call.caller.uid, action_items.add_action_item, dict(call.body)
    added = await call_route(deps, uid, add_route, body=body, operation=call.operation)
    return ProgramTaskOut.model_validate(added)


@route(
    "POST",
    f"{PATH}/batch",
    "Write down up to 50 things to do, all or none, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("action_items:write"),
    errors=(401, 403, 429),
    max_bytes=MAX_BATCH_BYTES,
)
async def add_action_items(
    deps: LibraryDeps, call: CreatingCall[DeveloperTasksIn, None, KeyOwner]
) -> TasksCreatedOut:
    uid, add_route = call.caller.uid, action_items.add_action_items
    body = [dict(item) for item in call.body.action_items]
    added = await call_route(deps, uid, add_route, body=body, operation=call.operation)
    return TasksCreatedOut.model_validate(added)


@route(
    "PATCH",
    f"{PATH}/{{action_item_id}}",
    "Change an action item, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("action_items:write"),
    errors=(401, 403, 404, 429),
)
async def change_action_item(
    deps: LibraryDeps, call: Call[DeveloperTaskChangeIn, None, KeyOwner]
) -> ProgramTaskOut:
    changes, change_route = call.body.to_changes(), action_items.change_action_item
    changed = await call_route(deps, call.caller.uid, change_route, path=call.path, body=changes)
    return ProgramTaskOut.model_validate(changed)


@route(
    "DELETE",
    f"{PATH}/{{action_item_id}}",
    "Delete an action item, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("action_items:write"),
    errors=(401, 403, 404, 429),
)
async def delete_action_item(deps: LibraryDeps, call: Call[None, None, KeyOwner]) -> SuccessOut:
    await call_route(deps, call.caller.uid, action_items.delete_action_item, path=call.path)
    return SuccessOut()


ROUTES = (
    list_owner_action_items,
    add_action_item,
    add_action_items,
    change_action_item,
    delete_action_item,
)
