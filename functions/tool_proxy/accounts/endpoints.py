"""The routes of connected accounts."""

from starlette.responses import Response

from functions.tool_proxy.accounts import connections
from functions.tool_proxy.accounts.wire import (
    AuthorizeOut,
    ConnectionOut,
    Disconnected,
    Returned,
)
from functions.tool_proxy.authorization import browser, returned
from functions.tool_proxy.authorization.away import AUTHORIZED_WITHIN, NotConnected
from functions.tool_proxy.wiring import ToolProxyDeps
from shared.domain.errors import NotAllowed, Unavailable
from shared.edge.http import Call, Endpoint


async def list_connections(deps: ToolProxyDeps, call: Call[None]) -> list[ConnectionOut]:
    return [ConnectionOut.of(each) for each in await connections.offers(deps.services, call.uid)]


async def get_connection(deps: ToolProxyDeps, call: Call[None]) -> ConnectionOut:
    offer = await connections.offer(deps.services, call.uid, call.path["service"])
    return ConnectionOut.of(offer)


async def authorize(deps: ToolProxyDeps, call: Call[None]) -> Response:
    """Let this browser come back, and no other: who is talked into opening the link cannot."""
    sent = await connections.authorize(deps.services, call.uid, call.path["service"])
    answer = Response(AuthorizeOut(url=sent.url).model_dump_json(), media_type="application/json")
    return browser.remember(
        answer,
        sent.authorization_id,
        path="/v1/connections",
        back_to=deps.services.redirect_uri,
        within=AUTHORIZED_WITHIN,
    )


async def come_back(deps: ToolProxyDeps, call: Call[None]) -> Response:
    query: Returned = call.query
    try:
        who = await connections.returning(deps.services, query.state)
        if not browser.began_here(call.headers, who.authorization_id):
            return returned.not_connected(browser.begun_elsewhere(deps.services.redirect_uri))
        service = await connections.complete(deps.services, who, query.code)
    except NotConnected as refused:
        return returned.not_connected(str(refused))
    except Unavailable:
        return returned.not_connected("The service does not answer. Please start again.")
    return returned.connected(service.label)


async def complete(deps: ToolProxyDeps, call: Call[Returned]) -> ConnectionOut:
    """Finish in an app that the system opens in the place of our page: it knows its user."""
    who = await connections.returning(deps.services, call.body.state)
    if who.uid != call.uid:
        raise NotAllowed("This was begun by another user.")
    service = await connections.complete(deps.services, who, call.body.code)
    return ConnectionOut.of(await connections.offer(deps.services, call.uid, service.service))


async def disconnect(deps: ToolProxyDeps, call: Call[None]) -> Disconnected:
    revoked = await connections.disconnect(deps.services, call.uid, call.path["service"])
    return Disconnected(revoked=revoked)


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
        handler=come_back,
        summary="Come back from a service that was asked for access",
        access="anyone",
        query=Returned,
        media_type="text/html",
    ),
    Endpoint(
        method="POST",
        path="/v1/connections/complete",
        handler=complete,
        summary="Come back into an app instead of a browser",
        body=Returned,
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
        response=Disconnected,
        errors=(404,),
    ),
)
