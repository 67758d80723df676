"""The routes at which MCP servers become apps."""

from starlette.responses import Response

from functions.tool_proxy import returned
from functions.tool_proxy.mcp_servers import connect
from functions.tool_proxy.mcp_servers.connect import NotConnected
from functions.tool_proxy.mcp_servers.wire import McpAppIn, McpAppOut, McpCallbackQuery
from functions.tool_proxy.registration import ManifestFailed, NoManifest
from functions.tool_proxy.wiring import ToolProxyDeps
from shared.domain.errors import Unavailable
from shared.domain.ids import AppId
from shared.edge.http import Call, Endpoint
from shared.edge.problems import problem


async def add_server(deps: ToolProxyDeps, call: Call[McpAppIn]) -> McpAppOut | Response:
    try:
        added = await connect.add(deps, call.uid, call.body.registration())
    except (NoManifest, ManifestFailed) as failed:
        return _problem(failed)
    return McpAppOut.of(added.app, auth_url=added.auth_url)


async def refresh_tools(deps: ToolProxyDeps, call: Call[None]) -> McpAppOut | Response:
    try:
        added = await connect.refresh(deps, call.uid, AppId(call.path["app_id"]))
    except (NoManifest, ManifestFailed) as failed:
        return _problem(failed)
    return McpAppOut.of(added.app, auth_url=added.auth_url)


async def come_back(deps: ToolProxyDeps, call: Call[None]) -> Response:
    query: McpCallbackQuery = call.query
    try:
        app = await connect.complete(deps, state=query.state, code=query.code, iss=query.iss)
    except (NotConnected, NoManifest, ManifestFailed) as failed:
        return returned.not_connected(str(failed))
    except Unavailable:
        return returned.not_connected("The server does not answer. Please start again.")
    return returned.connected(app.name)


def _problem(failed: NoManifest | ManifestFailed) -> Response:
    return problem(400 if isinstance(failed, NoManifest) else 502, str(failed))


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
        query=McpCallbackQuery,
        media_type="text/html",
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
