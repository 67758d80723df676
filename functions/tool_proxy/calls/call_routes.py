"""The internal route of tool calls: run a tool of an app."""

from functions.tool_proxy.calls.call import call_tool
from functions.tool_proxy.calls.call_schemas import ToolCallIn, ToolCallOut, UserIn
from functions.tool_proxy.deps import CallDeps
from shared import telemetry
from shared.domain.errors import NotAllowed
from shared.domain.ids import UserId
from shared.edge.declare.routes import Call, route
from shared.security.delegations import DELEGATION_HEADER, REFUSAL, Purpose

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
async def run_tool(deps: CallDeps, call: Call[ToolCallIn]) -> ToolCallOut:
    body, uid = call.body, verify_user(deps, call, "tool_call", call.body.call_id)
    data = await call_tool(
        deps, uid, body.app_id, body.tool, body.arguments, pin=body.pin, call_id=body.call_id
    )
    return ToolCallOut.of(data)


def verify_user(deps: CallDeps, call: Call[UserIn], purpose: Purpose, call_id: str) -> UserId:
    """Return for whom the call is made, which the caller signed. Raises NotAllowed."""
    token = call.headers.get(DELEGATION_HEADER, "")
    uid = deps.delegations.verify(token, purpose, call_id)
    if call.body.uid not in (None, uid):
        raise NotAllowed(REFUSAL)
    telemetry.add_fields(uid=telemetry.hash_id(uid))
    return uid


ROUTES = (run_tool,)
