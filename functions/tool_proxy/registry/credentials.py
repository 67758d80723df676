"""Credentials of apps: the keys with which an app calls us, and the secret that signs our calls.

Also called: key rotation, secret rotation.
"""

import base64
import secrets
from dataclasses import replace
from datetime import timedelta

from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.registry.access import require_owned
from shared.data.app_access import NO_INTEGRATION
from shared.data.apps.apps import hash_key
from shared.domain.apps.app import ApiKey, App, RetiredSecret
from shared.domain.errors import Conflict, NotAllowed
from shared.domain.ids import AppId, UserId

MAX_KEYS = 20
SECRET_OVERLAP = timedelta(hours=24)
"""A retired signing secret still signs for so long: time to deploy the new one everywhere."""


async def create_key(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> tuple[ApiKey, str]:
    """Create a key; returns it with its secret, which is not stored.

    Raises NotFound, NotAllowed, and Conflict for too many.
    """
    app = await require_owned(deps, uid, app_id)
    if not app.is_integration:
        raise NotAllowed(NO_INTEGRATION)
    if len(await deps.stores.apps.list_keys(app_id)) >= MAX_KEYS:
        raise Conflict(f"An app may have {MAX_KEYS} keys; remove one first.")
    raw_key = secrets.token_hex(16)
    key = ApiKey(
        id=deps.new_id(),
        hashed=hash_key(raw_key),
        label=f"sk_{raw_key[:4]}...{raw_key[-4:]}",
        created_at=deps.clock.now(),
    )
    await deps.stores.apps.add_key(app_id, key)
    return key, f"sk_{raw_key}"


async def rotate_secret(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> str:
    """Create a new signing secret; the old one also signs for SECRET_OVERLAP."""
    await require_owned(deps, uid, app_id)
    secret, until = create_signing_secret(), deps.clock.now() + SECRET_OVERLAP
    wrapped_secret = await deps.signing_secrets.wrap(app_id, secret)

    def apply_rotation(app: App) -> App:
        retired = RetiredSecret(secret=app.signing_secret, until=until)
        return replace(app, signing_secret=wrapped_secret, retired_secret=retired)

    await deps.stores.apps.update_app(app_id, apply_rotation)
    return secret


def create_signing_secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
