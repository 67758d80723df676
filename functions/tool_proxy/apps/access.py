"""Who may see, use and change an app."""

from collections.abc import Mapping
from dataclasses import replace

from functions.tool_proxy.wiring import ToolProxyDeps
from shared.data.paging import Page
from shared.domain.app import App, InstalledApp
from shared.domain.errors import Conflict, NotAllowed, NotFound
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


async def listed(
    deps: ToolProxyDeps, uid: UserId, *, after: str | None = None
) -> Page[tuple[App, InstalledApp | None]]:
    """Return apps, as they are installed: own, installed and the newest public ones first.

    Behind the cursor `after` come older public ones of others, which are not installed.
    """
    installed = {entry.app_id: entry for entry in await deps.installed_apps.all(uid)}
    public = await deps.apps.public(after=after)
    found = [a for a in public.items if a.owner != uid and a.id not in installed]
    if after is None:
        found += await deps.apps.owned_by(uid)
        found += await deps.apps.get_many(sorted(installed))
    apps: Mapping[AppId, App] = {a.id: a for a in found if a.is_visible_to(uid)}
    items = [(apps[app_id], installed.get(app_id)) for app_id in sorted(apps)]
    return Page(items=items, next=public.next)


async def enable(
    deps: ToolProxyDeps, uid: UserId, app_id: AppId, *, shown: frozenset[str] | None = None
) -> None:
    """Install an app, or allow what it asks for since; of that, only what its user was shown.

    Raises NotFound, and Conflict for too many.
    """
    app = await visible(deps, uid, app_id)
    installed = InstalledApp.of(app, deps.clock.now())
    if shown is not None:
        installed = replace(installed, granted=installed.granted & shown)
    try:
        await deps.installed_apps.add(uid, installed)
    except Conflict:
        await _make_room(deps, uid)
        await deps.installed_apps.add(uid, installed)


async def _make_room(deps: ToolProxyDeps, uid: UserId) -> None:
    """Forget apps that were deleted: no list shows them, so nobody could remove them."""
    installed = [entry.app_id for entry in await deps.installed_apps.all(uid)]
    there = {app.id for app in await deps.apps.get_many(installed)}
    for gone in set(installed) - there:
        await deps.installed_apps.remove(uid, gone)
