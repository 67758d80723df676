"""Authentication of apps: by API key, installation and visibility."""

import asyncio

from shared.data.stores import Stores
from shared.domain.app import INTEGRATION_CAPABILITY, App, InstalledApp
from shared.domain.errors import NotAllowed, NotAuthenticated, NotFound
from shared.domain.ids import AppId, UserId, is_id

NO_INTEGRATION = f"App does not have the capability {INTEGRATION_CAPABILITY}"


async def authenticate_app(
    stores: Stores, app_id: AppId, uid: UserId, header: str | None, *, not_installed_message: str
) -> tuple[App, InstalledApp]:
    """Return the app if it proves who it is by its key, and its installation by the user.

    Raises NotAuthenticated, NotAllowed, NotFound, checked in this order; an app that the user did
    not install reads `not_installed_message`.
    """
    key = parse_api_key(header)
    if not is_id(app_id):
        raise NotAllowed("Invalid API key")
    is_key_valid, apps, installed_app = await asyncio.gather(
        stores.apps.is_valid_key(app_id, key),
        stores.apps.get_many([app_id]),
        _get_installed(stores, uid, app_id),
    )
    if not apps and (is_key_valid or await stores.apps.had_key(app_id, key)):
        raise NotFound("App not found")
    if not is_key_valid:
        raise NotAllowed("Invalid API key")
    if not apps[0].is_integration:
        raise NotAllowed(NO_INTEGRATION)
    if installed_app is None or not apps[0].is_visible_to(uid):
        raise NotAllowed(not_installed_message)
    return apps[0], installed_app


def parse_api_key(header: str | None) -> str:
    """Return the key of an Authorization header. Raises NotAuthenticated."""
    scheme, _, key = (header or "").partition(" ")
    if scheme.lower() != "bearer" or not key:
        raise NotAuthenticated("Missing or invalid Authorization header. Must be 'Bearer API_KEY'")
    return key


async def _get_installed(stores: Stores, uid: UserId, app_id: AppId) -> InstalledApp | None:
    return await stores.installed_apps.get(uid, app_id) if is_id(uid) else None
