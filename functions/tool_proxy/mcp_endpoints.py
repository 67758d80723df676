"""The routes at which MCP servers become apps."""

from starlette.responses import Response

from functions.tool_proxy import registration
from functions.tool_proxy.mcp_wire import McpAppIn, McpAppOut
from functions.tool_proxy.registration import ManifestFailed, NoManifest
from functions.tool_proxy.wiring import ToolProxyDeps
from shared.domain.ids import AppId
from shared.edge.http import Call, Endpoint
from shared.edge.problems import problem


async def add_server(deps: ToolProxyDeps, call: Call[McpAppIn]) -> McpAppOut | Response:
    try:
        app = await registration.register(deps, call.uid, call.body.registration())
    except (NoManifest, ManifestFailed) as failed:
        return _problem(failed)
    return McpAppOut.of(app)


async def refresh_tools(deps: ToolProxyDeps, call: Call[None]) -> McpAppOut | Response:
    try:
        app = await registration.refresh(deps, call.uid, AppId(call.path["app_id"]))
    except (NoManifest, ManifestFailed) as failed:
        return _problem(failed)
    return McpAppOut.of(app)


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
        method="POST",
        path="/v1/apps/{app_id}/mcp/refresh",
        handler=refresh_tools,
        summary="Ask an MCP server for its tools again",
        response=McpAppOut,
        errors=(400, 401, 403, 404, 502),
    ),
)
