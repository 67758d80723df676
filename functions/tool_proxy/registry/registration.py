"""App registration: apps are created, changed and deleted, from a form and a manifest."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Literal
from urllib.parse import urljoin

import anyio.to_thread

from functions.tool_proxy.calls.result_mapping import sanitize_reason
from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.mcp_servers.errors import ProtocolError, Unauthorized
from functions.tool_proxy.mcp_servers.tool_list import fetch_tools
from functions.tool_proxy.registry.access import require_owned
from functions.tool_proxy.registry.credentials import create_signing_secret
from functions.tool_proxy.registry.manifest import InvalidManifest, Manifest, read_manifest
from shared.domain.app import App, ExternalIntegration
from shared.domain.errors import (
    Conflict,
    KeepsakeError,
    NotAllowed,
    TooLarge,
    Unavailable,
)
from shared.domain.ids import AppId, UserId
from shared.domain.value import value
from shared.ports import EgressRequest, EgressResponse

MAX_APPS = 20
MAX_REDIRECTS = 3
MAX_MANIFEST_BYTES = 262_144
MANIFEST_TIMEOUT_S = 10
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class NoManifest(KeepsakeError):
    """The app names no manifest, or one at an address that is refused: its developer can fix it."""


class ManifestFailed(KeepsakeError):
    """The app's server did not give a usable manifest; the message says why."""


class AuthorizationNeeded(ManifestFailed):
    """The app's MCP server says nothing without a token; `challenge` is how it said so."""

    def __init__(self, challenge: str) -> None:
        super().__init__("The MCP server asks for authorization.")
        self.challenge = challenge


@value
class Registration:
    """What a developer says about an app."""

    name: str
    description: str
    capabilities: tuple[str, ...]
    external_integration: ExternalIntegration
    private: bool
    persona_prompt: str | None
    persona_model: Literal["persona", "persona_premium"]


async def register_app(deps: ToolProxyDeps, owner: UserId, registration: Registration) -> App:
    """Create an app. With a manifest that cannot be used nothing is stored.

    Its developer is at the keyboard and reads the reason; an app without its tools would only look
    registered. Raises Conflict, NoManifest and ManifestFailed.
    """
    app = await build_app(deps, owner, registration)
    if _has_tool_source(app.external_integration):
        app = mark_verified(deps, apply_manifest(app, await fetch_manifest(deps, app)))
    await deps.stores.apps.create(app)
    return app


async def build_app(deps: ToolProxyDeps, owner: UserId, registration: Registration) -> App:
    """Make an app that is not stored yet and has no tools. Raises Conflict."""
    if await deps.stores.apps.count_owned(owner) >= MAX_APPS:
        raise Conflict(f"You may have {MAX_APPS} apps.")
    return App(
        id=create_ulid(deps.clock.now(), deps.new_id()),
        owner=owner,
        created_at=deps.clock.now(),
        name=registration.name,
        description=registration.description,
        capabilities=registration.capabilities,
        private=registration.private,
        external_integration=registration.external_integration,
        persona_prompt=registration.persona_prompt,
        persona_model=registration.persona_model,
        signing_secret=create_signing_secret(),
    )


async def refresh_manifest(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> App:
    """Read the manifest again; every setting it does not speak of stays.

    An app that was switched off is called again. Raises NotFound, NotAllowed, NoManifest and
    ManifestFailed.
    """
    manifest = await fetch_manifest(deps, await require_owned(deps, uid, app_id))
    return await deps.stores.apps.revise(
        app_id, lambda app: mark_verified(deps, apply_manifest(app, manifest))
    )


async def change_app(
    deps: ToolProxyDeps, uid: UserId, app_id: AppId, apply_changes: Callable[[App], App]
) -> App:
    """Change what its developer says about an app, and read its manifest again if it has one.

    With a manifest that cannot be used nothing is changed. Raises as `refresh`, and Conflict.
    """
    stored_app = await require_owned(deps, uid, app_id)
    changed_app = apply_changes(stored_app)
    if changed_app.external_integration.mcp_server_url and not changed_app.private:
        raise Conflict("An app that is an MCP server stays its owner's own.")
    manifest = Manifest(tools=(), refused_tools=())
    if _has_tool_source(changed_app.external_integration):
        manifest = await fetch_manifest(deps, changed_app)
    elif not _has_tool_source(stored_app.external_integration):
        return await deps.stores.apps.revise(
            app_id, lambda app: mark_verified(deps, apply_changes(app))
        )
    return await deps.stores.apps.revise(
        app_id, lambda app: mark_verified(deps, apply_manifest(apply_changes(app), manifest))
    )


async def remove_app(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> None:
    """Delete an app, and what opened its server. Raises NotFound and NotAllowed."""
    await require_owned(deps, uid, app_id)
    await deps.mcp.tokens.delete(uid, app_id)
    await deps.stores.apps.remove(app_id)


def _has_tool_source(integration: ExternalIntegration) -> bool:
    return bool(integration.mcp_server_url or integration.chat_tools_manifest_url)


def mark_verified(deps: ToolProxyDeps, app: App) -> App:
    return replace(app, checked_at=deps.clock.now(), switched_off=None, webhook_off=None)


def apply_manifest(app: App, manifest: Manifest) -> App:
    """Return the app with what its manifest says."""
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
    """Read what an app declares, where it says. Raises NoManifest and ManifestFailed."""
    if server := app.external_integration.mcp_server_url:
        return await _fetch_mcp_manifest(deps, app, server)
    url = app.external_integration.chat_tools_manifest_url
    if not url:
        raise NoManifest("The app has no chat_tools_manifest_url.")
    try:
        response = await _get_with_redirects(deps, url)
        if response.status != 200:
            raise ManifestFailed(f"The manifest's address answered HTTP {response.status}.")
        run_in_thread = anyio.to_thread.run_sync  # a large one takes a second of computing
        return await run_in_thread(read_manifest, response.body, app.external_integration)
    except NotAllowed as refusal:
        raise NoManifest(f"chat_tools_manifest_url is refused: {refusal}") from refusal
    except (Unavailable, TooLarge, InvalidManifest) as failure:
        raise ManifestFailed(f"The manifest could not be read: {failure}") from failure


async def _fetch_mcp_manifest(deps: ToolProxyDeps, app: App, server: str) -> Manifest:
    try:
        return await fetch_tools(deps, app, server)
    except NotAllowed as refusal:
        raise NoManifest(f"mcp_server_url is refused: {refusal}") from refusal
    except Unauthorized as challenge:
        raise AuthorizationNeeded(challenge.challenge) from challenge
    except ProtocolError as failure:
        raise ManifestFailed(
            f"The MCP server refused: {sanitize_reason(str(failure))}"
        ) from failure
    except (Unavailable, TooLarge, InvalidManifest) as failure:
        raise ManifestFailed(f"The MCP server could not be asked: {failure}") from failure


async def _get_with_redirects(deps: ToolProxyDeps, url: str) -> EgressResponse:
    """Follow a few redirects: each is a request of its own, which the guard judges as the first."""
    for _ in range(1 + MAX_REDIRECTS):
        response = await deps.egress.send(
            EgressRequest(
                method="GET",
                url=url,
                headers={"Accept": "application/json"},
                timeout_s=MANIFEST_TIMEOUT_S,
                max_bytes=MAX_MANIFEST_BYTES,
                accepts=("application/json", "application/octet-stream", "text/plain"),
            )
        )
        location = response.headers.get("location")
        if response.status not in (301, 302, 303, 307, 308) or not location:
            return response
        url = _join_url(url, location)
    raise ManifestFailed(f"The manifest's address redirects more than {MAX_REDIRECTS} times.")


def _join_url(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError as error:
        raise ManifestFailed("The manifest's address redirects to no address.") from error


def create_ulid(now: datetime, seed: str) -> AppId:
    """Return 26 characters that sort by time: 48 bits of it, then 80 of what `seed` hashes to."""
    random = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:10])
    number = (int(now.timestamp() * 1000) << 80) | random
    return AppId("".join(_CROCKFORD[(number >> 5 * place) & 31] for place in reversed(range(26))))
