"""Routes of integrations: the connections by the keys of released apps, and figures of phones."""

from dataclasses import replace

from functions.tool_proxy.accounts import connections, handoff
from functions.tool_proxy.accounts.integration_key_schemas import (
    AppleHealthIn,
    AuthUrlOut,
    IntegrationIn,
    IntegrationOut,
)
from functions.tool_proxy.deps import ToolProxyDeps
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, route

_SERVICE_BY_OLD_KEY = {"twitter": "x"}
"""Services that have another name here."""
MAX_HEALTH_BYTES = 65_536


@route(
    "PUT",
    "/v1/integrations/apple-health/sync",
    "Keep the health figures that a phone has of the last days",
    max_bytes=MAX_HEALTH_BYTES,
    ignores_unknown_fields=True,
)
async def sync_apple_health(deps: ToolProxyDeps, call: Call[AppleHealthIn]) -> OkOut:
    figures = replace(call.body.to_figures(), synced_at=deps.clock.now())
    await deps.stores.health.put_apple(call.uid, figures)
    return OkOut()


@route(
    "GET",
    "/v1/integrations/{key}",
    "Say whether the account of a service is connected",
    errors=(404,),
)
async def get_integration(deps: ToolProxyDeps, call: Call) -> IntegrationOut:
    return await _load_integration(deps, call)


@route(
    "PUT",
    "/v1/integrations/{key}",
    "Say whether the account of a service is connected; released apps expect to save it",
    errors=(404,),
)
async def save_integration(deps: ToolProxyDeps, call: Call[IntegrationIn]) -> IntegrationOut:
    """Change nothing: only an authorization, which has tokens, connects an account."""
    return await _load_integration(deps, call)


@route(
    "DELETE",
    "/v1/integrations/{key}",
    "Disconnect the account of a service; a repeat changes nothing",
    errors=(404,),
)
async def delete_integration(deps: ToolProxyDeps, call: Call) -> OkOut:
    await connections.disconnect(deps.services, call.uid, _get_service(call))
    return OkOut()


@route(
    "GET",
    "/v1/integrations/{key}/oauth-url",
    "Begin to connect the account of a service, in a browser that the app opens",
    errors=(404, 409),
    check="revocation",
)
async def get_oauth_url(deps: ToolProxyDeps, call: Call) -> AuthUrlOut:
    url = await handoff.build_link(deps.services, call.uid, _get_service(call))
    return AuthUrlOut(auth_url=url)


async def _load_integration(
    deps: ToolProxyDeps, call: Call[IntegrationIn] | Call
) -> IntegrationOut:
    found = await connections.get_connectable(deps.services, call.uid, _get_service(call))
    is_connected = found.connection is not None and found.connection.health == "connected"
    return IntegrationOut(connected=is_connected, app_key=call.path["key"])


def _get_service(call: Call[IntegrationIn] | Call) -> str:
    key = call.path["key"]
    return _SERVICE_BY_OLD_KEY.get(key, key)


ROUTES = (
    sync_apple_health,
    get_integration,
    save_integration,
    delete_integration,
    get_oauth_url,
)
