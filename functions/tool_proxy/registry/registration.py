"""App registration: apps are created, changed and deleted, from a form and a manifest."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.ports import Manifest, TransportName
from functions.tool_proxy.registry.access import require_owned
from functions.tool_proxy.registry.app_names import require_unreserved_name
from functions.tool_proxy.registry.credentials import create_signing_secret
from shared.domain.app import App, ExternalIntegration
from shared.domain.errors import Conflict
from shared.domain.ids import AppId, UserId

MAX_APPS = 20
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


async def register_app(deps: ToolProxyDeps, owner: UserId, describe: Callable[[App], App]) -> App:
    """Create an app and read its manifest. If that cannot be used, nothing is stored.

    An app without its tools would only look registered, and its developer is there to read the
    reason. Raises Conflict, Invalid for a reserved name, NoManifest and ManifestFailed.
    """
    app = describe(await build_app(deps, owner))
    require_unreserved_name(app.name)
    if _has_tool_source(app.external_integration):
        app = mark_verified(deps, apply_manifest(app, await fetch_manifest(deps, app)))
    await deps.stores.apps.create(app)
    return app


async def build_app(deps: ToolProxyDeps, owner: UserId) -> App:
    """Build an app without a description, not stored yet. Raises Conflict for too many apps."""
    if await deps.stores.apps.count_owned(owner) >= MAX_APPS:
        raise Conflict(f"You may have {MAX_APPS} apps.")
    return App(
        id=create_ulid(deps.clock.now(), deps.new_id()),
        owner=owner,
        created_at=deps.clock.now(),
        name="",
        private=False,
        signing_secret=create_signing_secret(),
    )


async def refresh_manifest(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> App:
    """Read the manifest again; settings that it does not declare stay as they are.

    An app that was switched off is on again. Raises NotFound, NotAllowed, NoManifest and
    ManifestFailed.
    """
    manifest = await fetch_manifest(deps, await require_owned(deps, uid, app_id))
    return await deps.stores.apps.update_app(
        app_id, lambda app: mark_verified(deps, apply_manifest(app, manifest))
    )


async def change_app(
    deps: ToolProxyDeps, uid: UserId, app_id: AppId, apply_changes: Callable[[App], App]
) -> App:
    """Change an app, and read its manifest again if it has one.

    If the manifest cannot be used, nothing is changed. Raises as refresh_manifest, Conflict, and
    Invalid for a new name that is reserved.
    """
    stored_app = await require_owned(deps, uid, app_id)
    changed_app = apply_changes(stored_app)
    if changed_app.name != stored_app.name:
        require_unreserved_name(changed_app.name)
    if changed_app.external_integration.mcp_server_url and not changed_app.private:
        raise Conflict("An MCP server stays private to its owner.")
    manifest = Manifest(tools=(), refused_tools=())
    if _has_tool_source(changed_app.external_integration):
        manifest = await fetch_manifest(deps, changed_app)
    elif not _has_tool_source(stored_app.external_integration):
        return await deps.stores.apps.update_app(
            app_id, lambda app: mark_verified(deps, apply_changes(app))
        )
    return await deps.stores.apps.update_app(
        app_id, lambda app: mark_verified(deps, apply_manifest(apply_changes(app), manifest))
    )


async def remove_app(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> None:
    """Delete an app, and its owner's tokens for its server. Raises NotFound and NotAllowed."""
    await require_owned(deps, uid, app_id)
    await deps.mcp.tokens.delete(uid, app_id)
    await deps.stores.apps.remove(app_id)


def _has_tool_source(integration: ExternalIntegration) -> bool:
    return bool(integration.mcp_server_url or integration.chat_tools_manifest_url)


def mark_verified(deps: ToolProxyDeps, app: App) -> App:
    """Return the app as checked now, and switched on."""
    return replace(app, checked_at=deps.clock.now(), switched_off=None, webhook_off=None)


def apply_manifest(app: App, manifest: Manifest) -> App:
    """Return the app with the tools and settings of its manifest."""
    integration = app.external_integration
    if chat := manifest.chat_messages:
        integration = replace(
            integration,
            chat_messages_enabled=chat.enabled,
            chat_messages_target=chat.target,
            chat_messages_notify=chat.notify,
        )
    return replace(
        app,
        chat_tools=manifest.tools,
        refused_tools=manifest.refused_tools,
        external_integration=integration,
    )


async def fetch_manifest(deps: ToolProxyDeps, app: App) -> Manifest:
    """Read an app's manifest from its source. Raises NoManifest and ManifestFailed."""
    name: TransportName = "mcp" if app.external_integration.mcp_server_url else "http"
    return await deps.choose_manifest_source(name).fetch(app)


def create_ulid(now: datetime, seed: str) -> AppId:
    """Return a ULID, 26 characters that sort by time: 48 bits of it, then 80 of the hash of `seed`."""
    random = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:10])
    number = (int(now.timestamp() * 1000) << 80) | random
    return AppId("".join(_CROCKFORD[(number >> 5 * place) & 31] for place in reversed(range(26))))
