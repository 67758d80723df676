"""Goals over HTTP: list, set, change, record progress, delete, and what the model says about them."""

from functions.library.goals.goal_advice import advise, suggest_goal
from functions.library.goals.goal_schemas import (
    GoalAdviceOut,
    GoalChangeIn,
    GoalIn,
    GoalOut,
    GoalSuggestionOut,
    HistoryQuery,
    ProgressPointOut,
    ProgressQuery,
)
from shared.domain.ids import GoalId
from shared.domain.tasks.goal import Goal
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.library.count_model_usage import count_model_usage
from shared.library.deps import LibraryDeps


@route("GET", "/v1/goals", "Read the newest active goal; null without one", errors=(401,))
async def get_current_goal(deps: LibraryDeps, call: Call) -> GoalOut | None:
    goals = await deps.stores.goals.list_active(call.uid)
    return GoalOut.model_validate(goals[0]) if goals else None


@route("GET", "/v1/goals/all", "List the active goals, newest first, four at most", errors=(401,))
async def list_goals(deps: LibraryDeps, call: Call) -> list[GoalOut]:
    return list(map(GoalOut.model_validate, await deps.stores.goals.list_active(call.uid)))


@route(
    "POST",
    "/v1/goals",
    "Set a goal; beyond four, the oldest becomes inactive",
    errors=(400, 401, 413, 415, 422),
)
async def add_goal(deps: LibraryDeps, call: CreatingCall[GoalIn]) -> GoalOut:
    now, fields = deps.clock.now(), call.body.model_dump(exclude={"id"})
    goal_id = GoalId(call.body.id or call.operation.name)
    goal = Goal(id=goal_id, created_at=now, updated_at=now, **fields)
    return GoalOut.model_validate(await deps.stores.goals.create(call.uid, goal))


@route(
    "GET", "/v1/goals/suggest", "Suggest a goal from what was talked about", errors=(401, 429, 503)
)
async def suggest(deps: LibraryDeps, call: Call) -> GoalSuggestionOut:
    async with count_model_usage(deps.quotas, deps.clock, call.uid):
        return await suggest_goal(deps, call.uid)


@route(
    "GET",
    "/v1/goals/advice",
    "Advise on the newest goal, in a sentence or two",
    errors=(401, 429, 503),
)
async def get_advice(deps: LibraryDeps, call: Call) -> GoalAdviceOut:
    async with count_model_usage(deps.quotas, deps.clock, call.uid):
        return GoalAdviceOut(advice=await advise(deps, call.uid))


@route("GET", "/v1/goals/{goal_id}", "Read a goal", errors=(401, 404))
async def get_goal(deps: LibraryDeps, call: Call) -> GoalOut:
    return GoalOut.model_validate(await deps.stores.goals.get(call.uid, call.path["goal_id"]))


@route(
    "GET",
    "/v1/goals/{goal_id}/history",
    "List the values that a goal had in the last days, oldest first",
    errors=(401, 404, 422),
)
async def get_history(deps: LibraryDeps, call: Call[None, HistoryQuery]) -> list[ProgressPointOut]:
    goal = await deps.stores.goals.get(call.uid, call.path["goal_id"])
    points = goal.select_progress(deps.clock.now(), days=call.query.days)
    return list(map(ProgressPointOut.model_validate, points))


@route("PATCH", "/v1/goals/{goal_id}", "Change a goal", errors=(400, 401, 404, 413, 415, 422))
async def change_goal(deps: LibraryDeps, call: Call[GoalChangeIn]) -> GoalOut:
    sent = call.body.model_dump(exclude_unset=True)
    changes = {name: to for name, to in sent.items() if to is not None or name == "unit"}
    goal = await deps.stores.goals.change_goal(
        call.uid, call.path["goal_id"], updated_at=deps.clock.now(), **changes
    )
    return GoalOut.model_validate(goal)


@route("PATCH", "/v1/goals/{goal_id}/progress", "Record how far a goal is", errors=(401, 404, 422))
async def record_progress(deps: LibraryDeps, call: Call[None, ProgressQuery]) -> GoalOut:
    goal = await deps.stores.goals.change_goal(
        call.uid,
        call.path["goal_id"],
        updated_at=deps.clock.now(),
        current_value=call.query.current_value,
    )
    return GoalOut.model_validate(goal)


@route("DELETE", "/v1/goals/{goal_id}", "Delete a goal with its history", errors=(401, 404))
async def delete_goal(deps: LibraryDeps, call: Call) -> OkOut:
    await deps.stores.goals.delete(call.uid, call.path["goal_id"])
    return OkOut()


ROUTES = (
    get_current_goal,
    list_goals,
    suggest,
    get_advice,
    add_goal,
    get_goal,
    get_history,
    change_goal,
    record_progress,
    delete_goal,
)
