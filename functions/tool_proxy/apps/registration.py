"""How an app comes to be, changes and goes: by its developer's words and by its manifest."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Literal
from urllib.parse import urljoin

import anyio.to_thread

from functions.tool_proxy.apps.access import owned
from functions.tool_proxy.apps.credentials import new_signing_secret
from functions.tool_proxy.apps.manifest import BadManifest, Manifest, read_manifest
from functions.tool_proxy.calls.results import reason_of
from functions.tool_proxy.mcp_servers.catalog import fetch_tools
from functions.tool_proxy.mcp_servers.errors import ProtocolError, Unauthorized
from functions.tool_proxy.wiring import ToolProxyDeps
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


async def register(deps: ToolProxyDeps, owner: UserId, asked: Registration) -> App:
    """Create an app. With a manifest that cannot be used nothing is stored.

    Its developer is at the keyboard and reads the reason; an app without its tools would only look
    registered. Raises Conflict, NoManifest and ManifestFailed.
    """
    app = await new_app(deps, owner, asked)
    if _declares_tools(app.external_integration):
        app = in_order(deps, declared(app, await fetch(deps, app)))
    await deps.apps.create(app)
    return app


async def new_app(deps: ToolProxyDeps, owner: UserId, asked: Registration) -> App:
    """Make an app that is not stored yet and has no tools. Raises Conflict."""
    if await deps.apps.count_of(owner) >= MAX_APPS:
        raise Conflict(f"You may have {MAX_APPS} apps.")
    return App(
        id=ulid(deps.clock.now(), deps.new_id()),
        owner=owner,
        created_at=deps.clock.now(),
        name=asked.name,
        description=asked.description,
        capabilities=asked.capabilities,
        private=asked.private,
        external_integration=asked.external_integration,
        persona_prompt=asked.persona_prompt,
        persona_model=asked.persona_model,
        signing_secret=new_signing_secret(),
    )


async def refresh(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> App:
    """Read the manifest again; every setting it does not speak of stays.

    An app that was switched off is called again. Raises NotFound, NotAllowed, NoManifest and
    ManifestFailed.
    """
    manifest = await fetch(deps, await owned(deps, uid, app_id))
    return await deps.apps.revise(app_id, lambda app: in_order(deps, declared(app, manifest)))


async def change(
    deps: ToolProxyDeps, uid: UserId, app_id: AppId, changed: Callable[[App], App]
) -> App:
    """Change what its developer says about an app, and read its manifest again if it has one.

    With a manifest that cannot be used nothing is changed. Raises as `refresh`, and Conflict.
    """
    before = await owned(deps, uid, app_id)
    after = changed(before)
    if after.external_integration.mcp_server_url and not after.private:
        raise Conflict("An app that is an MCP server stays its owner's own.")
    manifest = Manifest(tools=(), refused=())
    if _declares_tools(after.external_integration):
        manifest = await fetch(deps, after)
    elif not _declares_tools(before.external_integration):
        return await deps.apps.revise(app_id, lambda app: in_order(deps, changed(app)))
    return await deps.apps.revise(
        app_id, lambda app: in_order(deps, declared(changed(app), manifest))
    )


async def remove(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> None:
    """Delete an app, and what opened its server. Raises NotFound and NotAllowed."""
    await owned(deps, uid, app_id)
    await deps.mcp.grants.forget(uid, app_id)
    await deps.apps.remove(app_id)


def _declares_tools(integration: ExternalIntegration) -> bool:
    return bool(integration.mcp_server_url or integration.chat_tools_manifest_url)


def in_order(deps: ToolProxyDeps, app: App) -> App:
    return replace(app, checked_at=deps.clock.now(), switched_off=None, webhook_off=None)


def declared(app: App, manifest: Manifest) -> App:
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
        refused_tools=manifest.refused,
        external_integration=integration,
    )


async def fetch(deps: ToolProxyDeps, app: App) -> Manifest:
    """Read what an app declares, where it says. Raises NoManifest and ManifestFailed."""
    if server := app.external_integration.mcp_server_url:
        return await _listed(deps, app, server)
    url = app.external_integration.chat_tools_manifest_url
    if not url:
        raise NoManifest("The app has no chat_tools_manifest_url.")
    try:
        response = await _get(deps, url)
        if response.status != 200:
            raise ManifestFailed(f"The manifest's address answered HTTP {response.status}.")
        read = anyio.to_thread.run_sync  # a large one takes a second of computing
        return await read(read_manifest, response.body, app.external_integration)
    except NotAllowed as refused:
        raise NoManifest(f"chat_tools_manifest_url is refused: {refused}") from refused
    except (Unavailable, TooLarge, BadManifest) as failed:
        raise ManifestFailed(f"The manifest could not be read: {failed}") from failed


async def _listed(deps: ToolProxyDeps, app: App, server: str) -> Manifest:
    try:
        return await fetch_tools(deps, app, server)
    except NotAllowed as refused:
        raise NoManifest(f"mcp_server_url is refused: {refused}") from refused
    except Unauthorized as challenged:
        raise AuthorizationNeeded(challenged.challenge) from challenged
    except ProtocolError as failed:
        raise ManifestFailed(f"The MCP server refused: {reason_of(str(failed))}") from failed
    except (Unavailable, TooLarge, BadManifest) as failed:
        raise ManifestFailed(f"The MCP server could not be asked: {failed}") from failed


async def _get(deps: ToolProxyDeps, url: str) -> EgressResponse:
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
        url = _joined(url, location)
    raise ManifestFailed(f"The manifest's address redirects more than {MAX_REDIRECTS} times.")


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError as odd:
        raise ManifestFailed("The manifest's address redirects to no address.") from odd


def ulid(now: datetime, seed: str) -> AppId:
    """Return 26 characters that sort by time: 48 bits of it, then 80 of what `seed` hashes to."""
    random = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:10])
    number = (int(now.timestamp() * 1000) << 80) | random
    return AppId("".join(_CROCKFORD[(number >> 5 * place) & 31] for place in reversed(range(26))))
