"""Routes of MCP servers: add one as an app, authorize it, and refresh its tools."""

from starlette.responses import Response

from functions.tool_proxy.deps import RegistryDeps, ToolProxyDeps
from functions.tool_proxy.mcp_servers import connect
from functions.tool_proxy.mcp_servers.connect import ConnectResult
from functions.tool_proxy.mcp_servers.mcp_server_schemas import (
    McpAppIn,
    McpAppOut,
    McpCallbackIn,
)
from functions.tool_proxy.oauth import browser_binding, callback_page
from shared.domain.errors import CallerError, NotAllowed, Unavailable
from shared.domain.ids import AppId
from shared.edge.declare.routes import Call, route


@route(
    "POST",
    "/v1/apps/mcp",
    "Make an MCP server a private app of one's own",
    errors=(400, 401, 409, 502),
    max_bytes=65_536,
    check="revocation",
)
async def add_server(deps: RegistryDeps, call: Call[McpAppIn]) -> McpAppOut | Response:
    body = call.body
    result = await connect.add(deps, call.uid, body.apply_to, may_be_local=body.allow_local)
    return _to_response(deps, result)


@route(
    "POST",
    "/v1/apps/{app_id}/mcp/refresh",
    "Ask an MCP server for its tools again",
    errors=(400, 401, 403, 404, 502),
    check="revocation",
)
async def refresh_tools(deps: RegistryDeps, call: Call) -> McpAppOut | Response:
    return _to_response(deps, await connect.refresh(deps, call.uid, AppId(call.path["app_id"])))


def _to_response(deps: ToolProxyDeps, result: ConnectResult) -> Response:
    """Bind an authorization, if there is one, to this browser, as protection against CSRF."""
    url = result.redirect.url if result.redirect else None
    content = McpAppOut.of(result.app, auth_url=url).model_dump_json()
    answer = Response(content, media_type="application/json")
    if result.redirect is None:
        return answer
    return browser_binding.set_binding_cookie(
        answer,
        result.redirect.authorization_id,
        path="/v1/apps/mcp",
        return_url=deps.mcp.redirect_uri,
    )


@route(
    "GET",
    "/v1/apps/mcp/callback",
    "Come back from an MCP server's authorization server",
    access="anyone",
    media_type="text/html",
)
async def handle_callback(deps: RegistryDeps, call: Call[None, McpCallbackIn]) -> Response:
    query = call.query
    try:
        callback = await connect.verify_state(deps, query.state)
        browser_binding.check_same_browser(
            call.headers, callback.authorization_id, return_url=deps.mcp.redirect_uri
        )
        app = await connect.complete(deps, callback, code=query.code, iss=query.iss)
    except CallerError as failure:
        return callback_page.render_not_connected(str(failure))
    except Unavailable:
        return callback_page.render_not_connected("The server does not answer. Please start again.")
    return callback_page.render_connected(app.name)


@route(
    "POST",
    "/v1/apps/mcp/complete",
    "Come back from it into an app instead of a browser",
    errors=(400, 401, 403, 409, 502, 503),
    max_bytes=32_768,
    check="revocation",
)
async def complete(deps: RegistryDeps, call: Call[McpCallbackIn]) -> McpAppOut:
    """Complete an authorization in an app that opens the callback link: the app knows its user."""
    callback = await connect.verify_state(deps, call.body.state)
    if callback.uid != call.uid:
        raise NotAllowed("Another user started this.")
    app = await connect.complete(deps, callback, code=call.body.code, iss=call.body.iss)
    return McpAppOut.of(app)


ROUTES = (
    add_server,
    handle_callback,
    complete,
    refresh_tools,
)
