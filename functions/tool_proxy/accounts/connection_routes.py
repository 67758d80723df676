"""Routes of connections: list, authorize and disconnect accounts at services."""

from starlette.responses import Response

from functions.tool_proxy.accounts import connections, handoff
from functions.tool_proxy.accounts.connection_schemas import (
    AuthorizeOut,
    CallbackIn,
    ConnectionOut,
    DisconnectOut,
    StartConfirmation,
    StartIn,
)
from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.oauth import browser_binding, callback_page
from functions.tool_proxy.oauth.state import NotConnected
from shared.domain.errors import NotAllowed, Unavailable
from shared.edge.declare.routes import Call, route


@route("GET", "/v1/connections", "List the services whose accounts can be connected, and which are")
async def list_connections(deps: ToolProxyDeps, call: Call) -> list[ConnectionOut]:
    return [
        ConnectionOut.of(connectable)
        for connectable in await connections.list_connectable(deps.services, call.uid)
    ]


@route(
    "GET",
    "/v1/connections/{service}",
    "Say whether a service's account is connected",
    errors=(404,),
)
async def get_connection(deps: ToolProxyDeps, call: Call) -> ConnectionOut:
    connectable = await connections.get_connectable(deps.services, call.uid, call.path["service"])
    return ConnectionOut.of(connectable)


@route(
    "POST",
    "/v1/connections/{service}/authorize",
    "Begin to connect a service's account",
    errors=(404, 409),
    check="revocation",
)
async def authorize(deps: ToolProxyDeps, call: Call) -> AuthorizeOut | Response:
    """Bind the authorization to this browser, as protection against CSRF."""
    redirect = await connections.authorize(deps.services, call.uid, call.path["service"])
    answer = Response(
        AuthorizeOut(url=redirect.url).model_dump_json(), media_type="application/json"
    )
    return _bind(deps, answer, redirect.authorization_id)


@route(
    "GET",
    "/v1/connections/start",
    "Ask in the browser that an app opened whether to connect an account",
    access="anyone",
    media_type="text/html",
)
async def ask_to_start(deps: ToolProxyDeps, call: Call[None, StartIn]) -> Response:
    """Only a form on this page starts: its nonce is the cookie of this browser."""
    token, nonce = call.query.token, deps.new_id()
    try:
        link = await handoff.read_token(deps.services, token)
    except NotConnected as refusal:
        return callback_page.render_not_connected(str(refusal))
    account = await handoff.describe_account(deps.services, link.uid)
    page = callback_page.render_question(link.label, account, token=token, nonce=nonce)
    return _bind(deps, page, nonce)


@route(
    "POST",
    "/v1/connections/start",
    "Go on to the service, in the browser where this was confirmed",
    access="anyone",
    media_type="text/html",
)
async def start(deps: ToolProxyDeps, call: Call[None, StartConfirmation]) -> Response:
    return_url = deps.services.redirect_uri
    try:
        link = await handoff.read_token(deps.services, call.query.token)
        browser_binding.check_same_browser(call.headers, call.query.nonce, return_url=return_url)
    except NotConnected as refusal:
        return callback_page.render_not_connected(str(refusal))
    return _bind(deps, callback_page.render_forward(link.label, link.url), link.authorization_id)


def _bind(deps: ToolProxyDeps, page: Response, cookie_value: str) -> Response:
    return browser_binding.set_binding_cookie(
        page, cookie_value, path="/v1/connections", return_url=deps.services.redirect_uri
    )


@route(
    "GET",
    "/v1/connections/callback",
    "Come back from a service that was asked for access",
    access="anyone",
    media_type="text/html",
)
async def handle_callback(deps: ToolProxyDeps, call: Call[None, CallbackIn]) -> Response:
    query = call.query
    try:
        callback = await connections.verify_state(deps.services, query.state)
        browser_binding.check_same_browser(
            call.headers, callback.authorization_id, return_url=deps.services.redirect_uri
        )
        service = await connections.complete(deps.services, callback, query.code)
    except NotConnected as refusal:
        return callback_page.render_not_connected(str(refusal))
    except Unavailable:
        return callback_page.render_not_connected(
            "The service does not answer. Please start again."
        )
    return callback_page.render_connected(service.label)


@route(
    "POST",
    "/v1/connections/complete",
    "Come back into an app instead of a browser",
    errors=(403, 409, 503),
    max_bytes=32_768,
    check="revocation",
)
async def complete(deps: ToolProxyDeps, call: Call[CallbackIn]) -> ConnectionOut:
    """Complete an authorization in an app that opens the callback link: the app knows its user."""
    callback = await connections.verify_state(deps.services, call.body.state)
    if callback.uid != call.uid:
        raise NotAllowed("Another user started this.")
    service = await connections.complete(deps.services, callback, call.body.code)
    return ConnectionOut.of(
        await connections.get_connectable(deps.services, call.uid, service.service)
    )


@route(
    "DELETE",
    "/v1/connections/{service}",
    "Disconnect a service's account and revoke its tokens",
    errors=(404,),
)
async def disconnect(deps: ToolProxyDeps, call: Call) -> DisconnectOut:
    is_revoked = await connections.disconnect(deps.services, call.uid, call.path["service"])
    return DisconnectOut(revoked=is_revoked)


ROUTES = (
    list_connections,
    ask_to_start,
    start,
    handle_callback,
    complete,
    get_connection,
    authorize,
    disconnect,
)
