"""App registration: apps are created, changed and deleted, from a form and a manifest."""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from functions.tool_proxy.deps import RegistryDeps, ToolProxyDeps
from functions.tool_proxy.outbound_quota import count_request
from functions.tool_proxy.ports import WELL_KNOWN_PATH, Manifest, TransportName
from functions.tool_proxy.registry.access import load_display_name, require_owned
from functions.tool_proxy.registry.app_addresses import check_addresses
from functions.tool_proxy.registry.app_names import find_trusted_name, require_unreserved_name
from functions.tool_proxy.registry.borrowed_trust import sounds_trusted
from functions.tool_proxy.registry.credentials import create_signing_secret
from functions.tool_proxy.registry.grave_tools import mark_grave
from functions.tool_proxy.registry.logos import read_logo
from shared.domain.apps.app import INTEGRATION_CAPABILITY, App, AppLogo, ExternalIntegration
from shared.domain.errors import Conflict, Invalid, ManifestFailed, NoManifest
from shared.domain.ids import AppId, UserId

MAX_APPS = 20
UNKNOWN_AUTHOR = "Unknown developer"
SOUNDS_TRUSTED = (
    "The name sounds like a part of the product or like somebody's support or security. Please choose one that says what "
    "the app does."
)
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


async def register_app(
    deps: RegistryDeps,
    owner: UserId,
    describe: Callable[[App], App],
    *,
    picture: bytes | None = None,
    may_be_local: bool = False,
) -> App:
    """Create an app and read its manifest. If that cannot be used, nothing is stored.

    An app without its tools would only look registered, and its developer is there to read the
    reason. Raises Conflict, Invalid for a reserved name, a refused address, an unreadable picture or
    without the capability for a server, LocalAddress, NoManifest and ManifestFailed.
    """
    app = describe(await build_app(deps, owner))
    await _require_free_name(deps, app)
    _check_capability(app)
    app = check_addresses(deps.egress, app, may_be_local=may_be_local)
    logo = await read_logo(picture) if picture is not None else None
    if manifest := await _fetch_declared_manifest(deps, app):
        app = mark_verified(deps, apply_manifest(app, manifest))
    app = _apply_logo(app, logo)
    await deps.stores.apps.create(app, logo)
    deps.listings.put(app)
    return app


async def build_app(deps: RegistryDeps, owner: UserId) -> App:
    """Build an app without a description, not stored yet. Raises Conflict for too many apps."""
    if await deps.stores.apps.count_owned(owner) >= MAX_APPS:
        raise Conflict(f"You may have {MAX_APPS} apps.")
    now = deps.clock.now()
    app_id = create_ulid(now, deps.new_id())
    return App(
        id=app_id,
        owner=owner,
        created_at=now,
        updated_at=now,
        name="",
        author=await _load_author(deps, owner),
        private=False,
        signing_secret=await deps.signing_secrets.wrap(app_id, create_signing_secret()),
        user_key=secrets.token_hex(32),
    )


async def refresh_manifest(deps: RegistryDeps, uid: UserId, app_id: AppId) -> App:
    """Read the manifest again; settings that it does not declare stay as they are.

    An app that was switched off is on again. Raises NotFound, NotAllowed, NoManifest and
    ManifestFailed.
    """
    manifest = await fetch_manifest(deps, await require_owned(deps, uid, app_id))
    return await deps.stores.apps.update_app(
        app_id, lambda app: mark_verified(deps, apply_manifest(app, manifest))
    )


async def change_app(
    deps: RegistryDeps,
    uid: UserId,
    app_id: AppId,
    apply_changes: Callable[[App], App],
    *,
    picture: bytes | None = None,
    may_be_local: bool = False,
) -> App:
    """Change an app, and read its manifest again if it has one.

    If the manifest cannot be used, nothing is changed. Raises as refresh_manifest, Conflict, LocalAddress,
    and Invalid for a new name that is reserved, a refused address, an unreadable picture or without the
    capability for a server.
    """
    stored_app = await require_owned(deps, uid, app_id)
    changed_app = apply_changes(stored_app)
    if changed_app.name != stored_app.name:
        await _require_free_name(deps, changed_app)
    _check_capability(changed_app)
    _check_visibility(changed_app)
    checked_app = check_addresses(deps.egress, changed_app, stored_app, may_be_local=may_be_local)
    logo = await read_logo(picture) if picture is not None else None
    has_declared_tools = _has_tool_source(stored_app.external_integration)
    has_home_tools = bool(stored_app.chat_tools) and not has_declared_tools
    manifest = await _fetch_declared_manifest(deps, checked_app, has_home_tools=has_home_tools)
    if manifest is None and (has_declared_tools or has_home_tools):
        manifest = Manifest(tools=(), refused_tools=())

    def apply_all(app: App) -> App:
        changed_app = replace(
            apply_changes(_apply_logo(app, logo)),
            updated_at=deps.clock.now(),
            local_origins=checked_app.local_origins,
        )
        return apply_manifest(changed_app, manifest) if manifest else changed_app

    changed_app = await deps.stores.apps.update_app(
        app_id, lambda app: mark_verified(deps, apply_all(app)), logo=logo
    )
    deps.listings.put(changed_app)
    return changed_app


async def change_visibility(
    deps: ToolProxyDeps, uid: UserId, app_id: AppId, *, is_private: bool
) -> None:
    """Show an app to everybody, or to its owner alone. Raises NotFound, NotAllowed and Conflict."""
    await require_owned(deps, uid, app_id)

    def apply_visibility(app: App) -> App:
        changed_app = replace(app, private=is_private)
        _check_visibility(changed_app)
        return changed_app

    deps.listings.put(await deps.stores.apps.update_app(app_id, apply_visibility))


async def remove_app(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> None:
    """Delete an app, and its owner's tokens for its server. Raises NotFound and NotAllowed."""
    await require_owned(deps, uid, app_id)
    await deps.mcp.tokens.delete(uid, app_id)
    await deps.stores.apps.remove(app_id)
    deps.listings.remove(app_id)


async def _require_free_name(deps: RegistryDeps, app: App) -> None:
    """Raises Invalid for a name that users would take for one of ours or an authority's.

    The name of an MCP server may sound like one: its owner alone sees it.
    """
    require_unreserved_name(app.name)
    if app.external_integration.mcp_server_url:
        return
    if await sounds_trusted(deps.meanings, app.owner, app.name):
        raise Invalid(SOUNDS_TRUSTED)


async def _load_author(deps: RegistryDeps, owner: UserId) -> str:
    """Return the name under which users see a developer; none that they would take for one of ours."""
    name = await load_display_name(deps, owner)
    if not name or find_trusted_name(name) or await sounds_trusted(deps.meanings, owner, name):
        return UNKNOWN_AUTHOR
    return name


def _apply_logo(app: App, logo: AppLogo | None) -> App:
    return replace(app, logo=logo.hash) if logo else app


def _check_visibility(app: App) -> None:
    if app.external_integration.mcp_server_url and not app.private:
        raise Conflict("An MCP server stays private to its owner.")


def _check_capability(app: App) -> None:
    """Raise Invalid for an app that names a server of its own without the capability for it."""
    integration = app.external_integration
    has_server = _has_tool_source(integration) or integration.webhook_url or integration.actions
    if has_server and not app.is_integration:
        raise Invalid(f"Tools, webhooks and actions need the capability {INTEGRATION_CAPABILITY}")


async def _fetch_declared_manifest(
    deps: RegistryDeps, app: App, *, has_home_tools: bool = False
) -> Manifest | None:
    """Read the manifest that an app declares, or else the one that its home page may have.

    Returns None without either. A home page may be there for other reasons, so one without a usable
    manifest is no error unless it had tools before, but its developer reads the reason. Raises as
    fetch_manifest.
    """
    integration = app.external_integration
    if _has_tool_source(integration):
        return await fetch_manifest(deps, app)
    if not (integration.app_home_url and app.is_integration):
        return None
    try:
        return await fetch_manifest(deps, app)
    except NoManifest:
        return None
    except ManifestFailed as failure:
        if has_home_tools:
            raise
        return Manifest(tools=(), refused_tools=(f"{WELL_KNOWN_PATH}: {failure}"[:300],))


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


async def fetch_manifest(deps: RegistryDeps, app: App) -> Manifest:
    """Read an app's manifest from its source. Raises QuotaExceeded, NoManifest and ManifestFailed."""
    await count_request(deps, app.owner)
    name: TransportName = "mcp" if app.external_integration.mcp_server_url else "http"
    manifest = await deps.choose_manifest_source(name).fetch(app)
    return replace(manifest, tools=await mark_grave(deps.meanings, app.owner, manifest.tools))


def create_ulid(now: datetime, seed: str) -> AppId:
    """Return a ULID, 26 characters that sort by time: 48 bits of it, then 80 of the hash of `seed`."""
    random = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:10])
    number = (int(now.timestamp() * 1000) << 80) | random
    return AppId("".join(_CROCKFORD[(number >> 5 * place) & 31] for place in reversed(range(26))))
