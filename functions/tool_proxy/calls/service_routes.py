"""Internal routes of connected services: run a tool, revoke a user's tokens; and look addresses up."""

from functions.tool_proxy.accounts import connections
from functions.tool_proxy.accounts.service_calls import call_service
from functions.tool_proxy.calls.call_routes import MAX_CALL_BYTES, verify_user
from functions.tool_proxy.calls.call_schemas import ToolCallOut, UserIn
from functions.tool_proxy.calls.link_checks import find_broken_links
from functions.tool_proxy.calls.service_schemas import LinksIn, LinksOut, ServiceCallIn
from functions.tool_proxy.deps import ToolProxyDeps
from shared import telemetry
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, route
from shared.security.delegations import DISCONNECT_CALL_ID


@route(
    "POST",
    "/services",
    "Run a tool of a connected service",
    access="service",
    errors=(403, 422, 424, 503),
    max_bytes=MAX_CALL_BYTES,
)
async def run_service(deps: ToolProxyDeps, call: Call[ServiceCallIn]) -> ToolCallOut:
    body, uid = call.body, verify_user(deps, call, "tool_call", call.body.call_id)
    telemetry.add_fields(service=body.service, tool=body.tool)
    data = await call_service(
        deps.services, uid, body.service, body.tool, body.arguments, call_id=body.call_id
    )
    return ToolCallOut.of(data)


@route(
    "POST",
    "/services/disconnect",
    "Revoke and forget all tokens of a user",
    access="service",
    errors=(403, 422, 503),
)
async def disconnect_all(deps: ToolProxyDeps, call: Call[UserIn]) -> OkOut:
    uid = verify_user(deps, call, "disconnect", DISCONNECT_CALL_ID)
    await connections.disconnect_all(deps.services, uid)
    return OkOut()


@route(
    "POST",
    "/links",
    "Tell which addresses of an answer lead nowhere any more",
    access="service",
    errors=(422, 503),
    max_bytes=MAX_CALL_BYTES,
)
async def check_links(deps: ToolProxyDeps, call: Call[LinksIn]) -> LinksOut:
    return LinksOut(broken=await find_broken_links(deps.egress, call.body.urls))


ROUTES = (run_service, disconnect_all, check_links)
