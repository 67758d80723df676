"""The routes of connected accounts."""

from starlette.responses import Response

from functions.tool_proxy.accounts import connections
from functions.tool_proxy.accounts.connection_schemas import (
    AuthorizeOut,
    CallbackIn,
    ConnectionOut,
    DisconnectOut,
)
from functions.tool_proxy.deps import ToolProxyDeps
from shared.domain.errors import NotAllowed, Unavailable
from shared.edge.http import Call, Endpoint
from shared.oauth import browser_binding, callback_page
from shared.oauth.state import AUTHORIZATION_TTL, NotConnected


async def list_connections(deps: ToolProxyDeps, call: Call[None]) -> list[ConnectionOut]:
    return [
        ConnectionOut.of(connectable)
        for connectable in await connections.list_connectable(deps.services, call.uid)
    ]


async def get_connection(deps: ToolProxyDeps, call: Call[None]) -> ConnectionOut:
    connectable = await connections.get_connectable(deps.services, call.uid, call.path["service"])
    return ConnectionOut.of(connectable)


async def authorize(deps: ToolProxyDeps, call: Call[None]) -> Response:
    """Let this browser come back, and no other: who is talked into opening the link cannot."""
    redirect = await connections.authorize(deps.services, call.uid, call.path["service"])
    answer = Response(
        AuthorizeOut(url=redirect.url).model_dump_json(), media_type="application/json"
    )
    return browser_binding.set_binding_cookie(
        answer,
        redirect.authorization_id,
        path="/v1/connections",
        return_url=deps.services.redirect_uri,
        ttl=AUTHORIZATION_TTL,
    )


async def handle_callback(deps: ToolProxyDeps, call: Call[None]) -> Response:
    query: CallbackIn = call.query
    try:
        callback = await connections.verify_state(deps.services, query.state)
        if not browser_binding.is_same_browser(call.headers, callback.authorization_id):
            return callback_page.render_not_connected(
                browser_binding.build_wrong_browser_text(deps.services.redirect_uri)
            )
        service = await connections.complete(deps.services, callback, query.code)
    except NotConnected as refusal:
        return callback_page.render_not_connected(str(refusal))
    except Unavailable:
        return callback_page.render_not_connected(
            "The service does not answer. Please start again."
        )
    return callback_page.render_connected(service.label)


async def complete(deps: ToolProxyDeps, call: Call[CallbackIn]) -> ConnectionOut:
    """Finish in an app that the system opens in the place of our page: it knows its user."""
    callback = await connections.verify_state(deps.services, call.body.state)
    if callback.uid != call.uid:
        raise NotAllowed("This was begun by another user.")
    service = await connections.complete(deps.services, callback, call.body.code)
    return ConnectionOut.of(
        await connections.get_connectable(deps.services, call.uid, service.service)
    )


async def disconnect(deps: ToolProxyDeps, call: Call[None]) -> DisconnectOut:
    is_revoked = await connections.disconnect(deps.services, call.uid, call.path["service"])
    return DisconnectOut(revoked=is_revoked)


CONNECTIONS = (
    Endpoint(
        method="GET",
        path="/v1/connections",
        handler=list_connections,
        summary="List the services whose accounts can be connected, and which are",
        response=list[ConnectionOut],
    ),
    Endpoint(
        method="GET",
        path="/v1/connections/callback",
        handler=handle_callback,
        summary="Come back from a service that was asked for access",
        access="anyone",
        query=CallbackIn,
        media_type="text/html",
    ),
    Endpoint(
        method="POST",
        path="/v1/connections/complete",
        handler=complete,
        summary="Come back into an app instead of a browser",
        body=CallbackIn,
        response=ConnectionOut,
        errors=(403, 409, 503),
    ),
    Endpoint(
        method="GET",
        path="/v1/connections/{service}",
        handler=get_connection,
        summary="Say whether a service's account is connected",
        response=ConnectionOut,
        errors=(404,),
    ),
    Endpoint(
        method="POST",
        path="/v1/connections/{service}/authorize",
        handler=authorize,
        summary="Begin to connect a service's account",
        response=AuthorizeOut,
        errors=(404, 409),
    ),
    Endpoint(
        method="DELETE",
        path="/v1/connections/{service}",
        handler=disconnect,
        summary="Disconnect a service's account and revoke its tokens",
        response=DisconnectOut,
        errors=(404,),
    ),
)
