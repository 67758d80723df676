"""The route of tool calls."""

from functions.tool_proxy.calls.call import call_tool
from functions.tool_proxy.calls.wire import ToolCallIn
from functions.tool_proxy.wire import ToolCallOut
from functions.tool_proxy.wiring import ToolProxyDeps
from shared import telemetry
from shared.edge.http import Call, Endpoint


async def run_tool(deps: ToolProxyDeps, call: Call[ToolCallIn]) -> ToolCallOut:
    body = call.body
    telemetry.note(uid=telemetry.opaque(body.uid))
    text = await call_tool(
        deps, body.uid, body.app_id, body.tool, body.arguments, call_id=body.call_id
    )
    return ToolCallOut(text=text)


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/",
        handler=run_tool,
        summary="Run a tool of an app",
        access="service",
        body=ToolCallIn,
        response=ToolCallOut,
        ends_with_caller=True,
        errors=(422, 424, 503),
    ),
)
