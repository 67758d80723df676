"""The routes at which MCP servers become apps."""

from starlette.responses import Response

from functions.tool_proxy.apps.endpoints import manifest_problem
from functions.tool_proxy.apps.registration import ManifestFailed, NoManifest
from functions.tool_proxy.authorization import browser, returned
from functions.tool_proxy.authorization.away import AUTHORIZED_WITHIN
from functions.tool_proxy.mcp_servers import connect
from functions.tool_proxy.mcp_servers.connect import Added
from functions.tool_proxy.mcp_servers.wire import McpAppIn, McpAppOut, McpReturned
from functions.tool_proxy.wiring import ToolProxyDeps
from shared.domain.errors import CallerError, NotAllowed, Unavailable
from shared.domain.ids import AppId
from shared.edge.http import Call, Endpoint


async def add_server(deps: ToolProxyDeps, call: Call[McpAppIn]) -> Response:
    try:
        return _shown(deps, await connect.add(deps, call.uid, call.body.registration()))
    except (NoManifest, ManifestFailed) as failed:
        return manifest_problem(failed)


async def refresh_tools(deps: ToolProxyDeps, call: Call[None]) -> Response:
    try:
        return _shown(deps, await connect.refresh(deps, call.uid, AppId(call.path["app_id"])))
    except (NoManifest, ManifestFailed) as failed:
        return manifest_problem(failed)


def _shown(deps: ToolProxyDeps, added: Added) -> Response:
    """Let the browser that an owner is sent away in come back, and no other."""
    url = added.sent.url if added.sent else None
    content = McpAppOut.of(added.app, auth_url=url).model_dump_json()
    answer = Response(content, media_type="application/json")
    if added.sent is None:
        return answer
    return browser.remember(
        answer,
        added.sent.authorization_id,
        path="/v1/apps/mcp",
        back_to=deps.mcp.redirect_uri,
        within=AUTHORIZED_WITHIN,
    )


async def come_back(deps: ToolProxyDeps, call: Call[None]) -> Response:
    query: McpReturned = call.query
    try:
        who = await connect.returning(deps, query.state)
        if not browser.began_here(call.headers, who.authorization_id):
            return returned.not_connected(browser.begun_elsewhere(deps.mcp.redirect_uri))
        app = await connect.complete(deps, who, code=query.code, iss=query.iss)
    except (CallerError, NoManifest, ManifestFailed) as failed:
        return returned.not_connected(str(failed))
    except Unavailable:
        return returned.not_connected("The server does not answer. Please start again.")
    return returned.connected(app.name)


async def complete(deps: ToolProxyDeps, call: Call[McpReturned]) -> McpAppOut | Response:
    """Finish in an app that the system opens in the place of our page: it knows its user."""
    who = await connect.returning(deps, call.body.state)
    if who.uid != call.uid:
        raise NotAllowed("This was begun by another user.")
    try:
        app = await connect.complete(deps, who, code=call.body.code, iss=call.body.iss)
    except (NoManifest, ManifestFailed) as failed:
        return manifest_problem(failed)
    return McpAppOut.of(app)


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/v1/apps/mcp",
        handler=add_server,
        summary="Make an MCP server a private app of one's own",
        body=McpAppIn,
        response=McpAppOut,
        errors=(400, 401, 409, 502),
    ),
    Endpoint(
        method="GET",
        path="/v1/apps/mcp/callback",
        handler=come_back,
        summary="Come back from an MCP server's authorization server",
        access="anyone",
        query=McpReturned,
        media_type="text/html",
    ),
    Endpoint(
        method="POST",
        path="/v1/apps/mcp/complete",
        handler=complete,
        summary="Come back from it into an app instead of a browser",
        body=McpReturned,
        response=McpAppOut,
        errors=(400, 401, 403, 409, 502, 503),
    ),
    Endpoint(
        method="POST",
        path="/v1/apps/{app_id}/mcp/refresh",
        handler=refresh_tools,
        summary="Ask an MCP server for its tools again",
        response=McpAppOut,
        errors=(400, 401, 403, 404, 502),
    ),
)
