"""Sharing of tasks: a link that shows some of a user's tasks, and from which others add them."""

from starlette.responses import HTMLResponse

from functions.library.sharing.shared_page import render_not_found, render_tasks
from functions.library.sharing.task_sharing_schemas import (
    AcceptedTasksOut,
    AcceptIn,
    SharedTaskOut,
    SharedTasksOut,
    TaskShareIn,
    TaskShareOut,
)
from shared.data.store.hourly_limits import LimitWrite
from shared.domain.errors import NotFound
from shared.domain.ids import ActionItemId
from shared.domain.tasks.task_share import (
    LIFETIME,
    SharedTask,
    TaskShare,
    build_share_id,
    copy_shared_task,
    snapshot_task,
)
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.problems import RequestRejected, build_problem
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.library.deps import LibraryDeps
from shared.library.task_reminders import announce_tasks
from shared.resilience.hour_windows import floor_to_hour
from shared.resilience.rate_limit_status import check_limit

NO_SHARE = "There are no shared tasks at this link, or not any more"
OWN_SHARE = "These are your own tasks"
MAX_LINKS_PER_HOUR = 20


@route(
    "POST",
    "/v1/action-items/share",
    "Make a link to some action items; it ends after 30 days; 20 links an hour",
    errors=(400, 401, 404, 413, 415, 422, 429),
)
async def share_action_items(deps: LibraryDeps, call: Call[TaskShareIn]) -> TaskShareOut:
    task_ids = tuple(map(ActionItemId, dict.fromkeys(call.body.task_ids)))
    tasks = await deps.stores.action_items.get_many(call.uid, task_ids)
    if len(tasks) < len(task_ids):
        raise NotFound("Action item not found")
    token, now = deps.new_id() + deps.new_id(), deps.clock.now()
    share = TaskShare(
        id=build_share_id(token),
        uid=call.uid,
        created_at=now,
        expires_at=now + LIFETIME,
        tasks=tuple(map(snapshot_task, tasks)),
    )
    await _store_within_limit(deps, share)
    return TaskShareOut(
        url=f"{deps.public_url}/shared/tasks/{token}",
        token=token,
        expires_at=share.expires_at,
    )


async def _store_within_limit(deps: LibraryDeps, share: TaskShare) -> None:
    """Write link and limit in one commit, so that exactly the stored ones are counted. Raises TooMany."""

    async def store_with_limit(limit: LimitWrite) -> None:
        await deps.stores.task_shares.add(share, also=[limit])

    left = await deps.stores.hourly_limits.consume(
        share.uid,
        "task_shares",
        hour=floor_to_hour(share.created_at),
        limit=MAX_LINKS_PER_HOUR,
        consumer=share.id,
        store=store_with_limit,
    )
    check_limit(left, limit=MAX_LINKS_PER_HOUR, noun="links", now=share.created_at)


@route(
    "GET",
    "/v1/action-items/shared/{token}",
    "Read the action items behind a link; no sign-in is needed",
    access="anyone",
    errors=(404, 429),
)
async def get_shared_action_items(deps: LibraryDeps, call: Call) -> SharedTasksOut:
    share, tasks = await _load_shared(deps, call.path["token"])
    return SharedTasksOut(
        sender_name=await _load_sender_name(deps, share),
        tasks=[SharedTaskOut.model_validate(task) for task in tasks],
    )


@route(
    "GET",
    "/shared/tasks/{token}",
    "Show shared action items to people; no sign-in is needed",
    access="anyone",
    errors=(404, 429),
    media_type="text/html",
)
async def show_shared_action_items(deps: LibraryDeps, call: Call) -> HTMLResponse:
    try:
        share, tasks = await _load_shared(deps, call.path["token"])
    except NotFound:
        return render_not_found(NO_SHARE)
    return render_tasks(await _load_sender_name(deps, share), tasks)


@route(
    "DELETE",
    "/v1/action-items/shared/{token}",
    "End a link to one's action items",
    errors=(404,),
)
async def unshare_action_items(deps: LibraryDeps, call: Call) -> OkOut:
    share = await deps.stores.task_shares.find(call.path["token"], deps.clock.now())
    if share is None or share.uid != call.uid:
        raise NotFound(NO_SHARE)
    await deps.stores.task_shares.remove(share)
    return OkOut()


@route(
    "POST",
    "/v1/action-items/accept",
    "Add the action items behind a link to one's own, once",
    errors=(400, 401, 404, 409, 413, 415, 422),
)
async def accept_action_items(deps: LibraryDeps, call: CreatingCall[AcceptIn]) -> AcceptedTasksOut:
    share, tasks = await _load_shared(deps, call.body.token)
    if share.uid == call.uid:
        raise RequestRejected(build_problem(400, OWN_SHARE))
    now = deps.clock.now()
    copies = [copy_shared_task(share, task, now) for task in tasks]
    await deps.stores.task_shares.accept(call.uid, share, copies, now)
    dated = [task for task in copies if task.due_at]
    await announce_tasks(deps, call.uid, dated, "action_item_reminder")
    return AcceptedTasksOut(count=len(copies))


async def _load_shared(deps: LibraryDeps, token: str) -> tuple[TaskShare, list[SharedTask]]:
    """Return a share and its tasks as they were, but for those deleted since. Raises NotFound and TooMany."""
    share = await deps.stores.task_shares.find(token, deps.clock.now())
    if share is None:
        raise NotFound(NO_SHARE)
    deps.share_rate_limiter.check(share.id, deps.clock.now())
    erasure = await deps.erasures.get(share.uid)
    if erasure is not None and erasure.refuses(share.created_at):
        raise NotFound(NO_SHARE)
    shared_ids = [task.id for task in share.tasks]
    left = {task.id for task in await deps.stores.action_items.get_many(share.uid, shared_ids)}
    if not left:
        raise NotFound(NO_SHARE)
    return share, [task for task in share.tasks if task.id in left]


async def _load_sender_name(deps: LibraryDeps, share: TaskShare) -> str | None:
    return (await deps.stores.profiles.get(share.uid)).name or None


ROUTES = (
    share_action_items,
    get_shared_action_items,
    show_shared_action_items,
    unshare_action_items,
    accept_action_items,
)
