"""How an app comes to be: registered by its developer, declared by its manifest, allowed by users."""

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Literal

import anyio.to_thread

from functions.tool_proxy.manifest import BadManifest, Manifest, read_manifest
from functions.tool_proxy.wiring import ToolProxyDeps
from shared.data.apps import hash_key
from shared.domain.app import ApiKey, App, ExternalIntegration, InstalledApp
from shared.domain.errors import (
    Conflict,
    KeepsakeError,
    NotAllowed,
    NotFound,
    TooLarge,
    Unavailable,
)
from shared.domain.ids import AppId, UserId
from shared.domain.value import value
from shared.ports import EgressRequest

MAX_APPS = 20
MAX_INSTALLED = 100
"""As many as a chat looks at."""
MAX_KEYS = 20
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class NoManifest(KeepsakeError):
    """The app names no manifest, or one at an address that is refused: its developer can fix it."""


class ManifestFailed(KeepsakeError):
    """The app's server did not give a usable manifest; the message says why."""


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
    if await deps.apps.count_of(owner) >= MAX_APPS:
        raise Conflict(f"You may have {MAX_APPS} apps.")
    app = App(
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
        signing_secret="whsec_" + base64.b64encode(secrets.token_bytes(32)).decode(),
    )
    if app.external_integration.chat_tools_manifest_url:
        app = declared(app, await _fetch(deps, app))
    await deps.apps.create(app)
    return app


async def refresh(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> App:
    """Read the manifest again; every setting it does not speak of stays.

    Raises NotFound, NotAllowed, NoManifest and ManifestFailed.
    """
    app = await owned(deps, uid, app_id)
    app = declared(app, await _fetch(deps, app))
    await deps.apps.declare(app)
    return app


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


async def _fetch(deps: ToolProxyDeps, app: App) -> Manifest:
    url = app.external_integration.chat_tools_manifest_url
    if not url:
        raise NoManifest("The app has no chat_tools_manifest_url.")
    headers = {"Accept": "application/json"}
    request = EgressRequest(method="GET", url=url, headers=headers, timeout_s=10, max_bytes=262_144)
    try:
        response = await deps.egress.send(request)
        if response.status != 200:
            raise ManifestFailed(f"The manifest's address answered HTTP {response.status}.")
        read = anyio.to_thread.run_sync  # a large one takes a second of computing
        return await read(read_manifest, response.body, app.external_integration)
    except NotAllowed as refused:
        raise NoManifest(f"chat_tools_manifest_url is refused: {refused}") from refused
    except (Unavailable, TooLarge, BadManifest) as failed:
        raise ManifestFailed(f"The manifest could not be read: {failed}") from failed


async def visible(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> App:
    """Return an app that is public or the caller's own. Raises NotFound."""
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


async def listed(deps: ToolProxyDeps, uid: UserId) -> list[tuple[App, bool]]:
    """Return own, installed and public apps, each once, and whether it is installed."""
    installed = {entry.app_id for entry in await deps.installed_apps.all(uid)}
    found = [
        *await deps.apps.owned_by(uid),
        *await deps.apps.get_many(sorted(installed)),
        *await deps.apps.public(),
    ]
    apps: Mapping[AppId, App] = {a.id: a for a in found if a.is_visible_to(uid)}
    return [(apps[app_id], app_id in installed) for app_id in sorted(apps)]


async def enable(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> None:
    app = await visible(deps, uid, app_id)
    if len(await deps.installed_apps.all(uid)) >= MAX_INSTALLED:
        raise Conflict(f"You may install {MAX_INSTALLED} apps; remove one first.")
    installed = InstalledApp(app_id=app.id, installed_at=deps.clock.now())
    await deps.installed_apps.add(uid, installed)


async def new_key(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> tuple[ApiKey, str]:
    """Return a key as stored and its secret, which is not stored. Raises Conflict."""
    await owned(deps, uid, app_id)
    if len(await deps.apps.keys(app_id)) >= MAX_KEYS:
        raise Conflict(f"An app may have {MAX_KEYS} keys; remove one first.")
    raw = secrets.token_hex(16)
    key = ApiKey(
        id=deps.new_id(),
        hashed=hash_key(raw),
        label=f"sk_{raw[:4]}...{raw[-4:]}",
        created_at=deps.clock.now(),
    )
    await deps.apps.add_key(app_id, key)
    return key, f"sk_{raw}"


def ulid(now: datetime, seed: str) -> AppId:
    """Return 26 characters that sort by time: 48 bits of it, then 80 of what `seed` hashes to."""
    random = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:10])
    number = (int(now.timestamp() * 1000) << 80) | random
    return AppId("".join(_CROCKFORD[(number >> 5 * place) & 31] for place in reversed(range(26))))
