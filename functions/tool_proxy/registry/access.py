"""Access to apps: which of them a user may see, install and change.

Also called: access control.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.registry.setup_check import require_setup
from shared.data.store.paging import Page
from shared.domain.account.notification import Delivery, Notification, NotificationId
from shared.domain.apps.app import NAMED_PERMISSIONS, App, InstalledApp
from shared.domain.errors import AlreadyExists, Conflict, NotAllowed, NotFound
from shared.domain.ids import AppId, UserId, is_id
from shared.domain.provenance import Source
from shared.security.pairwise_id import create_pairwise_id
from shared.security.tool_pin import build_grants
from shared.security.visible_text import write_name

MAX_DISPLAY_NAME_CHARS = 100


async def require_visible(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> App:
    """Return an app that is public or the caller's own. Raises NotFound."""
    if not is_id(app_id):
        raise NotFound("App not found")
    app = await deps.stores.apps.get(app_id)
    if not app.is_visible_to(uid):
        raise NotFound("App not found")
    return app


async def require_owned(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> App:
    """Return the caller's own app. Raises NotFound, and NotAllowed for a public one of another."""
    app = await require_visible(deps, uid, app_id)
    if app.owner != uid:
        raise NotAllowed("You are not authorized to perform this action")
    return app


async def load_display_name(deps: ToolProxyDeps, uid: UserId) -> str:
    """Return the name by which other users see somebody, in one line; empty without one."""
    profile = await deps.stores.profiles.get(uid)
    return write_name(profile.name)[:MAX_DISPLAY_NAME_CHARS]


async def list_apps(
    deps: ToolProxyDeps, uid: UserId, *, after: str | None = None
) -> Page[tuple[App, InstalledApp | None]]:
    """Return apps and their installations: first own, installed and the newest public ones.

    The pages after the cursor `after` hold older public apps of others that are not installed.
    """
    installed_by_id = {
        entry.app_id: entry for entry in await deps.stores.installed_apps.list_all(uid)
    }
    public_page = await deps.stores.apps.list_public(after=after)
    candidate_apps = [
        a for a in public_page.items if a.owner != uid and a.id not in installed_by_id
    ]
    if after is None:
        candidate_apps += await deps.stores.apps.list_owned(uid)
        candidate_apps += await deps.stores.apps.get_many(sorted(installed_by_id))
    apps: Mapping[AppId, App] = {a.id: a for a in candidate_apps if a.is_visible_to(uid)}
    items = [(apps[app_id], installed_by_id.get(app_id)) for app_id in sorted(apps)]
    return Page(items=items, next=public_page.next)


async def install(
    deps: ToolProxyDeps,
    uid: UserId,
    app_id: AppId,
    *,
    shown_permissions: frozenset[str] | None = None,
) -> None:
    """Install an app, or grant the permissions that it asks for by now.

    The tools of a new app are pinned as they are: one that is added or changes later asks its user,
    also where they allow more permissions. Only `shown_permissions` are granted, if given; otherwise what is
    live stays as it was, and its user is told that the app asks for it.

    Raises NotFound, SetupIncomplete if it is new to its user, and Conflict for too many apps.
    """
    app = await require_visible(deps, uid, app_id)
    installation = await deps.stores.installed_apps.get(uid, app_id)
    if installation is None:
        await require_setup(deps, uid, app)
    installed_app = replace(
        InstalledApp.of(app, deps.clock.now(), shown_permissions),
        pairwise_id=installation.pairwise_id if installation else _choose_pairwise_id(app, uid),
    )
    if shown_permissions is None and installation is not None:
        kept = NAMED_PERMISSIONS & installation.get_permissions(app, uid)
        installed_app = replace(installed_app, granted=installed_app.granted | kept)
    if installation is None:
        await deps.stores.grants.replace_source(uid, app.source, build_grants(app))
    try:
        await deps.stores.installed_apps.add(uid, installed_app)
    except Conflict:
        await _remove_deleted_apps(deps, uid)
        await deps.stores.installed_apps.add(uid, installed_app)
    asked = app.permissions & NAMED_PERMISSIONS
    if shown_permissions is None and asked - installed_app.get_permissions(app, uid):
        await _tell_what_is_asked(deps, uid, app)


async def _tell_what_is_asked(deps: ToolProxyDeps, uid: UserId, app: App) -> None:
    """Tell a user once, in the inbox, that the app hears nothing live yet: the old client names no permission."""
    now = deps.clock.now()
    notice = Notification(
        id=NotificationId(f"asks-live-{app.id}"),
        app_id=app.id,
        title=f"{app.name} asks to hear you live",
        body="It hears nothing until you allow it, in the console under Apps.",
        created_at=now,
        delivered_at=now,
        delivery=Delivery(sent_at=now),
    )
    with suppress(AlreadyExists):
        await deps.stores.inbox.add(uid, notice)


def _choose_pairwise_id(app: App, uid: UserId) -> str:
    """Return the id by which an app knows a new user; empty for the account's id.

    Apps of before know the account, and so do those whose users sign in with them: the user's phone
    tells them its id.
    """
    if not app.user_key or app.connects_accounts:
        return ""
    return create_pairwise_id(app.user_key, uid)


async def _remove_deleted_apps(deps: ToolProxyDeps, uid: UserId) -> None:
    """Uninstall apps that were deleted: no list shows them, so their users cannot."""
    installed_ids = [entry.app_id for entry in await deps.stores.installed_apps.list_all(uid)]
    existing_ids = {app.id for app in await deps.stores.apps.get_many(installed_ids)}
    for deleted_id in set(installed_ids) - existing_ids:
        await uninstall(deps, uid, deleted_id)


async def uninstall(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> None:
    """Uninstall an app and forget what its user decided about its tools and its summaries."""
    await deps.stores.grants.remove_source(uid, Source(kind="app", id=app_id))
    await deps.stores.installed_apps.remove(uid, app_id)
    if (await deps.stores.profiles.get(uid)).summary_app == app_id:
        await deps.stores.profiles.forget_summary_app(uid, app_id)
