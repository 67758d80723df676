"""Authentication of apps: by API key, installation and visibility.

Also called: app authentication.
"""

import asyncio
from typing import Protocol

from shared.data.apps.cached_apps import CallingApps
from shared.data.stores import Stores
from shared.domain.apps.app import INTEGRATION_CAPABILITY, App, InstalledApp
from shared.domain.errors import NotAllowed, NotAuthenticated, NotFound
from shared.domain.ids import AppId, UserId, is_id
from shared.domain.value import value
from shared.security.pairwise_id import read_pairwise_id

NO_INTEGRATION = f"App does not have the capability {INTEGRATION_CAPABILITY}"


@value
class AppCaller:
    """An app that proved who it is, and the user who installed it and for whom it calls."""

    app: App
    uid: UserId
    installation: InstalledApp


class AppAccessDeps(Protocol):
    """The part of a function's dependencies by which it knows the apps that call it."""

    @property
    def stores(self) -> Stores: ...

    @property
    def calling_apps(self) -> CallingApps: ...


async def authenticate_app(
    deps: AppAccessDeps,
    app_id: AppId,
    app_uid: str,
    header: str | None,
    *,
    not_installed_message: str,
) -> AppCaller:
    """Return the app if it proves who it is by its key, and the user whom it knows as `app_uid`.

    Raises NotAuthenticated, NotAllowed, NotFound, checked in this order; an app that the user did
    not install reads `not_installed_message`.
    """
    stores, key = deps.stores, parse_api_key(header)
    if not is_id(app_id):
        raise NotAllowed("Invalid API key")
    uid = UserId(app_uid)
    is_key_valid, apps, installation = await asyncio.gather(
        stores.apps.is_valid_key(app_id, key),
        deps.calling_apps.get_many([app_id]),
        _get_installed(stores, uid, app_id),
    )
    if not apps and (is_key_valid or await stores.apps.had_key(app_id, key)):
        raise NotFound("App not found")
    if not is_key_valid:
        raise NotAllowed("Invalid API key")
    if not apps[0].is_integration:
        raise NotAllowed(NO_INTEGRATION)
    if installation is None and (known_uid := read_pairwise_id(apps[0].user_key, app_uid)):
        uid, installation = known_uid, await _get_installed(stores, known_uid, app_id)
    if installation is None or not apps[0].is_visible_to(uid):
        raise NotAllowed(not_installed_message)
    return AppCaller(app=apps[0], uid=uid, installation=installation)


def parse_api_key(header: str | None) -> str:
    """Return the key of an Authorization header. Raises NotAuthenticated."""
    scheme, _, key = (header or "").partition(" ")
    if scheme.lower() != "bearer" or not key:
        raise NotAuthenticated("Missing or invalid Authorization header. Must be 'Bearer API_KEY'")
    return key


async def _get_installed(stores: Stores, uid: UserId, app_id: AppId) -> InstalledApp | None:
    return await stores.installed_apps.get(uid, app_id) if is_id(uid) else None
