"""The routes of apps and their handlers: parse, one call, answer."""

from typing import Any

from starlette.responses import Response

from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.registry import access, credentials, registration
from functions.tool_proxy.registry.registration import ManifestFailed, NoManifest
from functions.tool_proxy.registry.schemas import (
    AppIn,
    AppOut,
    AppPatchIn,
    AppQuery,
    AppsQuery,
    CallOut,
    CallsQuery,
    EnableQuery,
    KeyOut,
    ManifestRefreshOut,
    NewKeyOut,
    OwnedAppOut,
    SecretOut,
    ToolOut,
)
from functions.tool_proxy.schemas import ToolProxyOkOut
from shared.data.call_log import CALL_LOG_TTL
from shared.data.codec import type_adapter
from shared.domain.app import App, InstalledApp
from shared.domain.errors import NotFound
from shared.domain.ids import AppId, UserId, is_id
from shared.edge.http import Call, Endpoint
from shared.edge.problems import build_problem

AnyApp = OwnedAppOut | AppOut
MAX_APP_BYTES = 131_072
"""Whoever lists apps reads a hundred of them."""


async def create_app(deps: ToolProxyDeps, call: Call[AppIn]) -> OwnedAppOut | Response:
    try:
        app = await registration.register_app(deps, call.uid, call.body.to_registration())
    except (NoManifest, ManifestFailed) as failure:
        return build_manifest_problem(failure)
    return OwnedAppOut.of(app, call.uid)


async def change_app(deps: ToolProxyDeps, call: Call[AppPatchIn]) -> OwnedAppOut | Response:
    try:
        app = await registration.change_app(deps, call.uid, _parse_app_id(call), call.body.apply_to)
    except (NoManifest, ManifestFailed) as failure:
        return build_manifest_problem(failure)
    return OwnedAppOut.of(app, call.uid, await deps.stores.installed_apps.get(call.uid, app.id))


async def delete_app(deps: ToolProxyDeps, call: Call[None]) -> ToolProxyOkOut:
    await registration.remove_app(deps, call.uid, _parse_app_id(call))
    return ToolProxyOkOut()


async def refresh_manifest(deps: ToolProxyDeps, call: Call[None]) -> ManifestRefreshOut | Response:
    try:
        app = await registration.refresh_manifest(deps, call.uid, _parse_app_id(call))
    except (NoManifest, ManifestFailed) as failure:
        return build_manifest_problem(failure)
    return ManifestRefreshOut(tools_count=len(app.chat_tools))


async def list_apps(deps: ToolProxyDeps, call: Call[None]) -> Response:
    """Answer with a plain array, as the old app reads it; the cursor stands in a header."""
    page = await access.list_apps(deps, call.uid, after=call.query.cursor)
    app_outs = [_to_app_out(app, call.uid, installation) for app, installation in page.items]
    return Response(
        type_adapter(list[AnyApp]).dump_json(app_outs),
        media_type="application/json",
        headers={"X-Next-Cursor": page.next} if page.next else None,
    )


async def get_app(deps: ToolProxyDeps, call: Call[None]) -> AnyApp:
    app = await access.require_visible(deps, call.uid, _parse_app_id(call))
    return _to_app_out(app, call.uid, await deps.stores.installed_apps.get(call.uid, app.id))


async def list_tools(deps: ToolProxyDeps, call: Call[None]) -> list[ToolOut]:
    app = await access.require_visible(deps, call.uid, _parse_app_id(call))
    return [ToolOut.of(tool) for tool in app.chat_tools]


async def create_key(deps: ToolProxyDeps, call: Call[None]) -> NewKeyOut:
    key, secret = await credentials.create_key(deps, call.uid, _parse_app_id(call))
    return NewKeyOut(id=key.id, secret=secret, label=key.label, created_at=key.created_at)


async def list_keys(deps: ToolProxyDeps, call: Call[None]) -> list[KeyOut]:
    app = await access.require_owned(deps, call.uid, _parse_app_id(call))
    return [KeyOut.of(key) for key in await deps.stores.apps.list_keys(app.id)]


async def delete_key(deps: ToolProxyDeps, call: Call[None]) -> ToolProxyOkOut:
    app = await access.require_owned(deps, call.uid, _parse_app_id(call))
    await deps.stores.apps.remove_key(app.id, _parse_id(call.path["key_id"]))
    return ToolProxyOkOut()


async def rotate_secret(deps: ToolProxyDeps, call: Call[None]) -> SecretOut:
    app = await credentials.rotate_secret(deps, call.uid, _parse_app_id(call))
    until = deps.clock.now() + credentials.SECRET_OVERLAP
    return SecretOut(signing_secret=app.signing_secret, retired_secret_until=until)


async def list_calls(deps: ToolProxyDeps, call: Call[None]) -> list[CallOut]:
    app = await access.require_owned(deps, call.uid, _parse_app_id(call))
    since = deps.clock.now() - CALL_LOG_TTL
    newest_calls = await deps.stores.call_log.list_newest(
        app.id, since=since, limit=call.query.limit
    )
    return [CallOut.of(entry) for entry in newest_calls]


async def enable(deps: ToolProxyDeps, call: Call[None]) -> ToolProxyOkOut:
    query: EnableQuery = call.query
    await access.install(deps, call.uid, query.app_id, shown_permissions=query.shown_permissions)
    return ToolProxyOkOut()


async def disable(deps: ToolProxyDeps, call: Call[None]) -> ToolProxyOkOut:
    await deps.stores.installed_apps.remove(call.uid, call.query.app_id)
    return ToolProxyOkOut()


def build_manifest_problem(failure: NoManifest | ManifestFailed) -> Response:
    """Say whose turn it is: the developer's, or the server's that they named."""
    return build_problem(400 if isinstance(failure, NoManifest) else 502, str(failure))


def _to_app_out(app: App, uid: UserId, installation: InstalledApp | None) -> AnyApp:
    kind = OwnedAppOut if app.owner == uid else AppOut
    return kind.of(app, uid, installation)


def _parse_app_id(call: Call[Any]) -> AppId:
    return AppId(_parse_id(call.path["app_id"]))


def _parse_id(text: str) -> str:
    if not is_id(text):
        raise NotFound("App not found")
    return text


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/v1/apps",
        handler=create_app,
        summary="Register an app and read its manifest",
        body=AppIn,
        response=OwnedAppOut,
        max_bytes=MAX_APP_BYTES,
        errors=(400, 409, 413, 502),
    ),
    Endpoint(
        method="GET",
        path="/v1/apps",
        handler=list_apps,
        summary="List own, installed and public apps; X-Next-Cursor leads to older public ones",
        query=AppsQuery,
        response=list[AnyApp],
    ),
    Endpoint(
        method="POST",
        path="/v1/apps/enable",
        handler=enable,
        summary="Install an app, or allow it what it asks for since",
        query=EnableQuery,
        response=ToolProxyOkOut,
        errors=(404, 409),
    ),
    Endpoint(
        method="POST",
        path="/v1/apps/disable",
        handler=disable,
        summary="Uninstall an app",
        query=AppQuery,
        response=ToolProxyOkOut,
    ),
    Endpoint(
        method="GET",
        path="/v1/apps/{app_id}",
        handler=get_app,
        summary="Show an app",
        response=AnyApp,
        errors=(404,),
    ),
    Endpoint(
        method="PATCH",
        path="/v1/apps/{app_id}",
        handler=change_app,
        summary="Change an app and read its manifest again",
        body=AppPatchIn,
        response=OwnedAppOut,
        max_bytes=MAX_APP_BYTES,
        errors=(400, 403, 404, 409, 413, 502),
    ),
    Endpoint(
        method="DELETE",
        path="/v1/apps/{app_id}",
        handler=delete_app,
        summary="Delete an app",
        response=ToolProxyOkOut,
        errors=(403, 404),
    ),
    Endpoint(
        method="GET",
        path="/v1/apps/{app_id}/tools",
        handler=list_tools,
        summary="List an app's tools, and whether they act or only read",
        response=list[ToolOut],
        errors=(404,),
    ),
    Endpoint(
        method="GET",
        path="/v1/apps/{app_id}/calls",
        handler=list_calls,
        summary="List the last calls to an app",
        query=CallsQuery,
        response=list[CallOut],
        errors=(403, 404),
    ),
    Endpoint(
        method="POST",
        path="/v1/apps/{app_id}/signing-secret",
        handler=rotate_secret,
        summary="Give an app a new signing secret",
        response=SecretOut,
        errors=(403, 404),
    ),
    Endpoint(
        method="POST",
        path="/v1/apps/{app_id}/refresh-manifest",
        handler=refresh_manifest,
        summary="Read an app's manifest again",
        response=ManifestRefreshOut,
        errors=(400, 403, 404, 502),
    ),
    Endpoint(
        method="POST",
        path="/v1/apps/{app_id}/keys",
        handler=create_key,
        summary="Create an app's key",
        response=NewKeyOut,
        errors=(403, 404, 409),
    ),
    Endpoint(
        method="GET",
        path="/v1/apps/{app_id}/keys",
        handler=list_keys,
        summary="List an app's keys",
        response=list[KeyOut],
        errors=(403, 404),
    ),
    Endpoint(
        method="DELETE",
        path="/v1/apps/{app_id}/keys/{key_id}",
        handler=delete_key,
        summary="Revoke an app's key",
        response=ToolProxyOkOut,
        errors=(403, 404),
    ),
)
