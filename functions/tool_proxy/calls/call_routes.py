"""Internal routes of tool calls: run a tool of an app or of a connected service."""

from functions.tool_proxy.accounts import connections
from functions.tool_proxy.accounts.service_calls import call_service
from functions.tool_proxy.calls.call import call_tool
from functions.tool_proxy.calls.call_schemas import ServiceCallIn, ToolCallIn, ToolCallOut, UserIn
from functions.tool_proxy.deps import ToolProxyDeps
from shared import telemetry
from shared.edge.routes import Call, route
from shared.edge.schemas import OkOut

MAX_CALL_BYTES = 262_144
"""More than a model writes as arguments."""


@route(
    "POST",
    "/",
    "Run a tool of an app",
    access="service",
    errors=(422, 424, 503),
    cancels_on_disconnect=True,
    max_bytes=MAX_CALL_BYTES,
)
async def run_tool(deps: ToolProxyDeps, call: Call[ToolCallIn]) -> ToolCallOut:
    body = call.body
    telemetry.add_fields(uid=telemetry.hash_id(body.uid))
    text = await call_tool(
        deps, body.uid, body.app_id, body.tool, body.arguments, call_id=body.call_id
    )
    return ToolCallOut(text=text)


@route(
    "POST",
    "/services",
    "Run a tool of a connected service",
    access="service",
    errors=(422, 424, 503),
    max_bytes=MAX_CALL_BYTES,
)
async def run_service(deps: ToolProxyDeps, call: Call[ServiceCallIn]) -> ToolCallOut:
    body = call.body
    telemetry.add_fields(uid=telemetry.hash_id(body.uid), service=body.service, tool=body.tool)
    text = await call_service(
        deps.services, body.uid, body.service, body.tool, body.arguments, call_id=body.call_id
    )
    return ToolCallOut(text=text)


@route(
    "POST",
    "/services/disconnect",
    "Revoke and forget all tokens of a user",
    access="service",
    errors=(422, 503),
)
async def disconnect_all(deps: ToolProxyDeps, call: Call[UserIn]) -> OkOut:
    telemetry.add_fields(uid=telemetry.hash_id(call.body.uid))
    await connections.disconnect_all(deps.services, call.body.uid)
    return OkOut()


ROUTES = (
    run_service,
    disconnect_all,
    run_tool,
)
