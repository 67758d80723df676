"""Routes of apps: register, list, install and change apps, with their keys and calls."""

from typing import Any

from starlette.responses import Response

from functions.tool_proxy.deps import RegistryDeps, ToolProxyDeps
from functions.tool_proxy.registry import access, credentials, registration
from functions.tool_proxy.registry.logos import MAX_UPLOAD_BYTES
from functions.tool_proxy.registry.reviews import list_reviews
from functions.tool_proxy.registry.schemas import (
    AppIn,
    AppPatchIn,
    AppQuery,
    CallOut,
    CallsQuery,
    EnableQuery,
    KeyOut,
    LiveListenerOut,
    ManifestRefreshOut,
    ModelRefusalOut,
    NewKeyOut,
    OwnedAppOut,
    SecretOut,
    ToolOut,
    VisibilityQuery,
)
from shared.data.apps.call_log import CALL_LOG_TTL
from shared.domain.apps.app import App, InstalledApp
from shared.domain.errors import NotFound
from shared.domain.ids import AppId, is_id
from shared.edge.declare.app_schemas import AppOut, AppViewer
from shared.edge.declare.common_schemas import OkOut, PageQuery
from shared.edge.declare.pagination import build_array_response
from shared.edge.declare.routes import Call, Form, route

AnyApp = OwnedAppOut | AppOut
MAX_APP_BYTES = 131_072
"""A list holds up to a hundred apps, so each is kept small."""
APP_FORM = Form(json_field="app_data", file_field="file", max_file_bytes=MAX_UPLOAD_BYTES)


@route(
    "POST",
    "/v1/apps",
    "Register an app and read its manifest",
    errors=(400, 409, 413, 502),
    max_bytes=MAX_APP_BYTES,
    form=APP_FORM,
)
async def create_app(deps: RegistryDeps, call: Call[AppIn]) -> OwnedAppOut:
    app = await registration.register_app(
        deps,
        call.uid,
        call.body.apply_to,
        picture=_get_picture(call),
        may_be_local=call.body.allow_local,
    )
    return OwnedAppOut.of(await deps.signing_secrets.reveal(app), _get_viewer(deps, call))


@route(
    "PATCH",
    "/v1/apps/{app_id}",
    "Change an app and read its manifest again",
    errors=(400, 403, 404, 409, 413, 502),
    max_bytes=MAX_APP_BYTES,
    form=APP_FORM,
    ignores_unknown_fields=True,
)
async def change_app(deps: RegistryDeps, call: Call[AppPatchIn]) -> OwnedAppOut:
    app = await registration.change_app(
        deps,
        call.uid,
        _get_app_id(call),
        call.body.apply_to,
        picture=_get_picture(call),
        may_be_local=call.body.allow_local,
    )
    installation = await deps.stores.installed_apps.get(call.uid, app.id)
    return OwnedAppOut.of(
        await deps.signing_secrets.reveal(app), _get_viewer(deps, call), installation
    )


@route(
    "PATCH",
    "/v1/apps/{app_id}/change-visibility",
    "Show an app to everybody, or to its owner alone",
    errors=(403, 404, 409),
)
async def change_visibility(deps: ToolProxyDeps, call: Call[None, VisibilityQuery]) -> OkOut:
    await registration.change_visibility(
        deps, call.uid, _get_app_id(call), is_private=call.query.private
    )
    return OkOut()


@route("DELETE", "/v1/apps/{app_id}", "Delete an app", errors=(403, 404))
async def delete_app(deps: ToolProxyDeps, call: Call) -> OkOut:
    await registration.remove_app(deps, call.uid, _get_app_id(call))
    return OkOut()


@route(
    "POST",
    "/v1/apps/{app_id}/refresh-manifest",
    "Read an app's manifest again",
    errors=(400, 403, 404, 502),
)
async def refresh_manifest(deps: RegistryDeps, call: Call) -> ManifestRefreshOut:
    app = await registration.refresh_manifest(deps, call.uid, _get_app_id(call))
    return ManifestRefreshOut(tools_count=len(app.chat_tools))


@route(
    "GET",
    "/v1/apps",
    "List own, installed and public apps; X-Next-Cursor leads to older public ones",
)
async def list_apps(deps: ToolProxyDeps, call: Call[None, PageQuery]) -> list[AnyApp] | Response:
    page = await access.list_apps(deps, call.uid, after=call.query.cursor)
    app_outs = [
        await _to_app_out(deps, call, app, installation) for app, installation in page.items
    ]
    return build_array_response(app_outs, AnyApp, page.next)


@route(
    "GET",
    "/v1/apps/live-listeners",
    "List who was sent live words or sound, and how much in all; an empty id is the user's own server",
)
async def list_live_listeners(deps: ToolProxyDeps, call: Call) -> list[LiveListenerOut]:
    listeners = await deps.stores.live_listeners.list_all(call.uid)
    return [LiveListenerOut.model_validate(listener) for listener in listeners]


@route("GET", "/v1/apps/{app_id}", "Show an app", errors=(404,))
async def get_app(deps: ToolProxyDeps, call: Call) -> AnyApp:
    app = await access.require_visible(deps, call.uid, _get_app_id(call))
    installation = await deps.stores.installed_apps.get(call.uid, app.id)
    reviews, own_review = await list_reviews(deps, call.uid, app)
    return await _to_app_out(deps, call, app, installation, reviews=reviews, own_review=own_review)


@route(
    "GET",
    "/v1/apps/{app_id}/tools",
    "List an app's tools, and whether they act or only read",
    errors=(404,),
)
async def list_tools(deps: ToolProxyDeps, call: Call) -> list[ToolOut]:
    app = await access.require_visible(deps, call.uid, _get_app_id(call))
    return [ToolOut.of(app, tool) for tool in app.chat_tools]


@route(
    "POST",
    "/v1/apps/{app_id}/keys",
    "Create an app's key",
    errors=(403, 404, 409),
    check="revocation",
)
async def create_key(deps: ToolProxyDeps, call: Call) -> NewKeyOut:
    key, secret = await credentials.create_key(deps, call.uid, _get_app_id(call))
    return NewKeyOut(id=key.id, secret=secret, label=key.label, created_at=key.created_at)


@route("GET", "/v1/apps/{app_id}/keys", "List an app's keys", errors=(403, 404))
async def list_keys(deps: ToolProxyDeps, call: Call) -> list[KeyOut]:
    app = await access.require_owned(deps, call.uid, _get_app_id(call))
    keys = await deps.stores.apps.list_keys(app.id)
    return [KeyOut.model_validate(key, from_attributes=True) for key in keys]


@route("DELETE", "/v1/apps/{app_id}/keys/{key_id}", "Revoke an app's key", errors=(403, 404))
async def delete_key(deps: ToolProxyDeps, call: Call) -> OkOut:
    app = await access.require_owned(deps, call.uid, _get_app_id(call))
    key_id = call.path["key_id"]
    if not is_id(key_id):
        raise NotFound("App not found")
    await deps.stores.apps.remove_key(app.id, key_id)
    return OkOut()


@route(
    "POST",
    "/v1/apps/{app_id}/signing-secret",
    "Give an app a new signing secret",
    errors=(403, 404),
    check="revocation",
)
async def rotate_secret(deps: ToolProxyDeps, call: Call) -> SecretOut:
    secret = await credentials.rotate_secret(deps, call.uid, _get_app_id(call))
    until = deps.clock.now() + credentials.SECRET_OVERLAP
    return SecretOut(signing_secret=secret, retired_secret_until=until)


@route("GET", "/v1/apps/{app_id}/calls", "List the last calls to an app", errors=(403, 404))
async def list_calls(deps: ToolProxyDeps, call: Call[None, CallsQuery]) -> list[CallOut]:
    app = await access.require_owned(deps, call.uid, _get_app_id(call))
    since = deps.clock.now() - CALL_LOG_TTL
    newest_calls = await deps.stores.call_log.list_newest(
        app.id, since=since, limit=call.query.limit
    )
    return [CallOut.model_validate(entry, from_attributes=True) for entry in newest_calls]


@route(
    "GET",
    "/v1/apps/{app_id}/model-refusals",
    "List the tools of an app that models refused in the last week",
    errors=(403, 404),
)
async def list_model_refusals(
    deps: ToolProxyDeps, call: Call[None, CallsQuery]
) -> list[ModelRefusalOut]:
    app = await access.require_owned(deps, call.uid, _get_app_id(call))
    since = deps.clock.now() - CALL_LOG_TTL
    newest = await deps.stores.model_refusals.list_newest(
        app.id, since=since, limit=call.query.limit
    )
    return [ModelRefusalOut.model_validate(refusal, from_attributes=True) for refusal in newest]


@route(
    "POST",
    "/v1/apps/enable",
    "Install an app, or allow it what it asks for since",
    errors=(400, 404, 409, 429),
    check="revocation",
)
async def enable(deps: ToolProxyDeps, call: Call[None, EnableQuery]) -> OkOut:
    query = call.query
    await access.install(deps, call.uid, query.app_id, shown_permissions=query.shown_permissions)
    return OkOut()


@route("POST", "/v1/apps/disable", "Uninstall an app")
async def disable(deps: ToolProxyDeps, call: Call[None, AppQuery]) -> OkOut:
    await access.uninstall(deps, call.uid, call.query.app_id)
    return OkOut()


async def _to_app_out(
    deps: ToolProxyDeps,
    call: Call[Any, Any],
    app: App,
    installation: InstalledApp | None,
    **reviews: Any,
) -> AnyApp:
    viewer = _get_viewer(deps, call)
    if app.owner != call.uid:
        return AppOut.of(app, viewer, installation, **reviews)
    owned_app = await deps.signing_secrets.reveal(app)
    return OwnedAppOut.of(owned_app, viewer, installation, **reviews)


def _get_viewer(deps: ToolProxyDeps, call: Call[Any, Any]) -> AppViewer:
    return AppViewer(uid=call.uid, public_url=deps.public_url)


def _get_picture(call: Call[Any, Any]) -> bytes | None:
    return call.file.content if call.file else None


def _get_app_id(call: Call[Any, Any]) -> AppId:
    return AppId(call.path["app_id"])


ROUTES = (
    create_app,
    list_apps,
    enable,
    disable,
    list_live_listeners,
    get_app,
    change_app,
    change_visibility,
    delete_app,
    list_tools,
    list_calls,
    list_model_refusals,
    rotate_secret,
    refresh_manifest,
    create_key,
    list_keys,
    delete_key,
)
