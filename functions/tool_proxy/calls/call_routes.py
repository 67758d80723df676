"""Internal routes of tool calls: run a tool of an app or of a connected service."""

from functions.tool_proxy.accounts import connections
from functions.tool_proxy.accounts.service_calls import call_service
from functions.tool_proxy.calls.call import call_tool
from functions.tool_proxy.calls.call_schemas import (
    LinksIn,
    LinksOut,
    ServiceCallIn,
    ToolCallIn,
    ToolCallOut,
    UserIn,
)
from functions.tool_proxy.calls.link_checks import find_broken_links
from functions.tool_proxy.deps import ToolProxyDeps
from shared import telemetry
from shared.domain.errors import NotAllowed
from shared.domain.ids import UserId
from shared.edge.routes import Call, route
from shared.edge.schemas import OkOut
from shared.security.delegations import (
    DELEGATION_HEADER,
    DISCONNECT_CALL_ID,
    REFUSAL,
    Purpose,
)

MAX_CALL_BYTES = 262_144
"""More than a model writes as arguments."""


@route(
    "POST",
    "/",
    "Run a tool of an app",
    access="service",
    errors=(403, 422, 424, 503),
    cancels_on_disconnect=True,
    max_bytes=MAX_CALL_BYTES,
)
async def run_tool(deps: ToolProxyDeps, call: Call[ToolCallIn]) -> ToolCallOut:
    body, uid = call.body, _verify_user(deps, call, "tool_call", call.body.call_id)
    data = await call_tool(
        deps, uid, body.app_id, body.tool, body.arguments, pin=body.pin, call_id=body.call_id
    )
    return ToolCallOut.of(data)


@route(
    "POST",
    "/services",
    "Run a tool of a connected service",
    access="service",
    errors=(403, 422, 424, 503),
    max_bytes=MAX_CALL_BYTES,
)
async def run_service(deps: ToolProxyDeps, call: Call[ServiceCallIn]) -> ToolCallOut:
    body, uid = call.body, _verify_user(deps, call, "tool_call", call.body.call_id)
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
    uid = _verify_user(deps, call, "disconnect", DISCONNECT_CALL_ID)
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


def _verify_user(deps: ToolProxyDeps, call: Call[UserIn], purpose: Purpose, call_id: str) -> UserId:
    """Return for whom the call is made, which the caller signed. Raises NotAllowed."""
    token = call.headers.get(DELEGATION_HEADER, "")
    uid = deps.delegations.verify(token, purpose, call_id)
    if call.body.uid not in (None, uid):
        raise NotAllowed(REFUSAL)
    telemetry.add_fields(uid=telemetry.hash_id(uid))
    return uid


ROUTES = (
    run_service,
    disconnect_all,
    check_links,
    run_tool,
)
