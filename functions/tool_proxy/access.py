"""Who may see, use and change an app."""

from collections.abc import Mapping

from functions.tool_proxy.wiring import ToolProxyDeps
from shared.domain.app import App, InstalledApp
from shared.domain.errors import NotAllowed, NotFound
from shared.domain.ids import AppId, UserId, is_id


async def visible(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> App:
    """Return an app that is public or the caller's own. Raises NotFound."""
    if not is_id(app_id):
        raise NotFound("App not found")
    app = await deps.apps.get(app_id)
    if not app.is_visible_to(uid):
        raise NotFound("App not found")
    return app


async def owned(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> App:
    """Return the caller's own app. Raises NotFound, and NotAllowed for a public one of another."""
    app = await visible(deps, uid, app_id)
    if app.owner != uid:
        raise NotAllowed("You are not authorized to perform this action")
    return app


async def listed(deps: ToolProxyDeps, uid: UserId) -> list[tuple[App, bool]]:
    """Return own, installed and public apps, each once, and whether it is installed."""
    installed = {entry.app_id for entry in await deps.installed_apps.all(uid)}
    found = [
        *await deps.apps.owned_by(uid),
        *await deps.apps.get_many(sorted(installed)),
        *await deps.apps.public(),
    ]
    apps: Mapping[AppId, App] = {a.id: a for a in found if a.is_visible_to(uid)}
    return [(apps[app_id], app_id in installed) for app_id in sorted(apps)]


async def enable(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> None:
    """Install an app. Raises NotFound, and Conflict where too many are installed."""
    app = await visible(deps, uid, app_id)
    installed = InstalledApp(app_id=app.id, installed_at=deps.clock.now())
    await deps.installed_apps.add(uid, installed)
