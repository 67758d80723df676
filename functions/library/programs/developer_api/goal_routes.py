"""Goals in the developer API."""

from starlette.responses import Response

from functions.library.goals import goals
from functions.library.goals.goal_schemas import (
    GoalChangeIn,
    GoalIn,
    GoalOut,
    HistoryQuery,
    ProgressPointOut,
    ProgressQuery,
)
from functions.library.pagination import build_page_response, cut_page
from functions.library.programs.developer_api.developer_schemas import (
    DeveloperGoalsQuery,
    SuccessOut,
)
from functions.library.programs.key_access import KeyOwner, authorize_developer_key
from functions.library.programs.route_calls import call_route
from shared.domain.errors import Invalid
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.library.deps import LibraryDeps

PATH = "/v1/dev/user/goals"


@route(
    "GET",
    PATH,
    "List goals, newest first, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("goals:read"),
    errors=(401, 403, 422, 429),
)
async def list_owner_goals(
    deps: LibraryDeps, call: Call[None, DeveloperGoalsQuery, KeyOwner]
) -> list[GoalOut] | Response:
    query, store, uid = call.query, deps.stores.goals, call.caller.uid
    if query.include_inactive:
        found = await store.list_newest(uid, limit=query.limit + 1)
    else:
        found = await store.list_active(uid)
    return build_page_response(cut_page(found, query.limit), GoalOut)


@route(
    "POST",
    PATH,
    "Set a goal, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("goals:write"),
    errors=(401, 403, 429),
)
async def add_goal(deps: LibraryDeps, call: CreatingCall[GoalIn, None, KeyOwner]) -> GoalOut:
    result: GoalOut = await call_route(
        deps,
        call.caller.uid,
        goals.add_goal,
        body=call.body.model_dump(),
        operation=call.operation,
    )
    return result


@route(
    "GET",
    f"{PATH}/{{goal_id}}",
    "Read a goal, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("goals:read"),
    errors=(401, 403, 404, 429),
)
async def get_goal(deps: LibraryDeps, call: Call[None, None, KeyOwner]) -> GoalOut:
    result: GoalOut = await call_route(deps, call.caller.uid, goals.get_goal, path=call.path)
    return result


@route(
    "PATCH",
    f"{PATH}/{{goal_id}}",
    "Change a goal, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("goals:write"),
    errors=(401, 403, 404, 429),
)
async def change_goal(deps: LibraryDeps, call: Call[GoalChangeIn, None, KeyOwner]) -> GoalOut:
    changes = call.body.model_dump(exclude_unset=True)
    if not changes:
        raise Invalid("name at least one field to change")
    result: GoalOut = await call_route(
        deps, call.caller.uid, goals.change_goal, path=call.path, body=changes
    )
    return result


@route(
    "PATCH",
    f"{PATH}/{{goal_id}}/progress",
    "Record how far a goal is, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("goals:write"),
    errors=(401, 403, 404, 422, 429),
)
async def record_progress(deps: LibraryDeps, call: Call[None, ProgressQuery, KeyOwner]) -> GoalOut:
    query = call.query.model_dump()
    result: GoalOut = await call_route(
        deps, call.caller.uid, goals.record_progress, path=call.path, query=query
    )
    return result


@route(
    "GET",
    f"{PATH}/{{goal_id}}/history",
    "List the values that a goal had in the last days, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("goals:read"),
    errors=(401, 403, 404, 422, 429),
)
async def get_history(
    deps: LibraryDeps, call: Call[None, HistoryQuery, KeyOwner]
) -> list[ProgressPointOut]:
    query = call.query.model_dump()
    result: list[ProgressPointOut] = await call_route(
        deps, call.caller.uid, goals.get_history, path=call.path, query=query
    )
    return result


@route(
    "DELETE",
    f"{PATH}/{{goal_id}}",
    "Delete a goal, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("goals:write"),
    errors=(401, 403, 404, 429),
)
async def delete_goal(deps: LibraryDeps, call: Call[None, None, KeyOwner]) -> SuccessOut:
    await call_route(deps, call.caller.uid, goals.delete_goal, path=call.path)
    return SuccessOut()


ROUTES = (
    list_owner_goals,
    add_goal,
    get_goal,
    change_goal,
    record_progress,
    get_history,
    delete_goal,
)
