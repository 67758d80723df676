"""Which app a key speaks for, and whether a user allowed it."""

import asyncio
from typing import Protocol

from shared.data.apps import Apps, InstalledApps
from shared.domain.app import App
from shared.domain.errors import NotAllowed, NotAuthenticated, NotFound
from shared.domain.ids import AppId, UserId, is_id


class AppStores(Protocol):
    """What the Deps of a function have that apps call."""

    @property
    def apps(self) -> Apps: ...

    @property
    def installed_apps(self) -> InstalledApps: ...


async def calling_app(
    stores: AppStores, app_id: AppId, uid: UserId, header: str | None, *, not_installed: str
) -> App:
    """Return the app if it proves who it is by its key and the user installed it.

    Raises NotAuthenticated, NotAllowed, NotFound, checked in this order; `not_installed` is what an app
    reads that the user did not allow.
    """
    key = _api_key(header)
    if not is_id(app_id):
        raise NotAllowed("Invalid API key")
    is_accepted, found, is_installed = await asyncio.gather(
        stores.apps.accepts_key(app_id, key),
        stores.apps.get_many([app_id]),
        _has_installed(stores, uid, app_id),
    )
    if not is_accepted:
        raise NotAllowed("Invalid API key")
    if not found:
        raise NotFound("App not found")
    if not is_installed or not found[0].is_visible_to(uid):
        raise NotAllowed(not_installed)
    return found[0]


def _api_key(header: str | None) -> str:
    scheme, _, key = (header or "").partition(" ")
    if scheme.lower() != "bearer" or not key:
        raise NotAuthenticated("Missing or invalid Authorization header. Must be 'Bearer API_KEY'")
    return key


async def _has_installed(stores: AppStores, uid: UserId, app_id: AppId) -> bool:
    return is_id(uid) and await stores.installed_apps.has(uid, app_id)
