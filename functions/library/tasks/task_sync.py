"""Synchronisation of tasks with the task apps of a user's phone, such as Apple Reminders.

Also called: two-way sync.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from functions.library.tasks.action_item_schemas import (
    MAX_BATCH_BYTES,
    ActionItemOut,
    ActionItemsChangedOut,
    ActionItemSyncsIn,
)
from functions.library.tasks.action_items import change_each
from functions.library.tasks.task_sync_schemas import (
    DEFAULT_PLATFORM,
    PendingSyncOut,
    PendingSyncQuery,
    TaskIntegrationIn,
    TaskIntegrationsOut,
)
from shared.data.tasks.task_integrations import Setting
from shared.domain.errors import NotFound
from shared.domain.ids import is_id
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, route
from shared.library.deps import LibraryDeps

MAX_OPEN = 500
MAX_COMPLETED = 100


@route(
    "GET",
    "/v1/action-items/pending-sync",
    "List the action items to export to a task app, and those to compare with it",
    errors=(401, 422),
)
async def list_pending_sync(
    deps: LibraryDeps, call: Call[None, PendingSyncQuery]
) -> PendingSyncOut:
    """Read the newest open tasks, and the exported ones that were completed last.

    An exported task may have been changed on either side, so all are compared that are open.
    """
    store = deps.stores.action_items
    open_items, completed_items = await asyncio.gather(
        store.list_open(call.uid, limit=MAX_OPEN),
        store.list_completed_exports(call.uid, limit=MAX_COMPLETED),
    )
    return PendingSyncOut(
        pending_export=[
            ActionItemOut.model_validate(item) for item in open_items if not item.exported
        ],
        synced_items=[
            ActionItemOut.model_validate(item)
            for item in (*open_items, *completed_items)
            if item.exported and (item.export_platform or DEFAULT_PLATFORM) == call.query.platform
        ],
    )


@route(
    "PATCH",
    "/v1/action-items/sync-batch",
    "Store what a phone changed of action items in its task app, or exported there",
    errors=(400, 401, 404, 413, 415, 422),
    max_bytes=MAX_BATCH_BYTES,
    ignores_unknown_fields=True,
)
async def sync_action_items(
    deps: LibraryDeps, call: Call[ActionItemSyncsIn]
) -> ActionItemsChangedOut:
    return await change_each(deps, call.uid, call.body.items)


@route("GET", "/v1/task-integrations", "List the task apps that phones are connected with")
async def list_task_integrations(deps: LibraryDeps, call: Call) -> TaskIntegrationsOut:
    settings_by_app = await deps.stores.task_integrations.list_all(call.uid)
    connected_apps = [name for name, s in settings_by_app.items() if s.get("connected")]
    return TaskIntegrationsOut(
        integrations={name: dict(settings) for name, settings in settings_by_app.items()},
        default_app=connected_apps[-1] if connected_apps else None,
    )


@route(
    "PUT",
    "/v1/task-integrations/{app_key}",
    "Keep how a phone is connected with a task app",
    errors=(400, 401, 404, 409, 413, 415, 422),
    ignores_unknown_fields=True,
)
async def save_task_integration(deps: LibraryDeps, call: Call[TaskIntegrationIn]) -> OkOut:
    return await _put(deps, call, call.body.to_settings())


@route(
    "DELETE",
    "/v1/task-integrations/{app_key}",
    "Say that no phone is connected with a task app any more",
    errors=(401, 404, 409),
)
async def end_task_integration(deps: LibraryDeps, call: Call) -> OkOut:
    return await _put(deps, call, {"connected": False})


async def _put(deps: LibraryDeps, call: Call[Any, Any], settings: Mapping[str, Setting]) -> OkOut:
    app = call.path["app_key"]
    if not is_id(app):
        raise NotFound("Task app not found")
    await deps.stores.task_integrations.put(call.uid, app, settings, deps.clock.now())
    return OkOut()


ROUTES = (
    list_pending_sync,
    sync_action_items,
    list_task_integrations,
    save_task_integration,
    end_task_integration,
)
