"""One tool call: installed, declared, well-formed; signed, sent, and told to the model."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from functions.tool_proxy.calls.outgoing import (
    TIMEOUT_S,
    OutgoingCall,
    execute,
    translate_egress_errors,
)
from functions.tool_proxy.calls.result_mapping import to_compact_json, to_model_text
from functions.tool_proxy.calls.schema import validate_arguments
from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.mcp_servers.mcp_call import call_over_mcp
from shared.domain.app import App, ChatTool
from shared.domain.errors import ToolFailed, ToolRefused
from shared.domain.ids import AppId, UserId
from shared.outbound.addresses import with_query
from shared.outbound.webhook_signature import build_message_id, sign
from shared.ports import EgressRequest
from shared.resilience.call_quota import check_quota
from shared.resilience.hour_windows import floor_to_hour
from shared.security.egress_rules import MAX_URL_CHARS


async def call_tool(
    deps: ToolProxyDeps,
    uid: UserId,
    app_id: AppId,
    name: str,
    arguments: Mapping[str, Any],
    *,
    call_id: str | None = None,
) -> str:
    """Return text for the model. Raises ToolRefused and ToolFailed.

    Calls with the same `call_id` carry the same message id, so that the app can drop a repeat.
    """
    limiter = deps.app_limiters.get_limiter(app_id)
    with limiter.acquire_slot():
        app, is_first = await _authorize_call(deps, uid, app_id)
        tool = _require_tool(app, name)
        provided_arguments = _drop_nulls(tool, arguments)
        if violation := validate_arguments(tool.parameters, provided_arguments):
            raise ToolRefused(f"The arguments of {name!r} do not fit: {violation}")
        call = OutgoingCall(uid=uid, app=app, tool=tool, is_first=is_first)
        if tool.transport == "mcp":
            return await execute(
                deps, limiter, call, partial(call_over_mcp, deps, call, provided_arguments)
            )
        message = build_message_id(uid, app_id, name, call_id or deps.new_id())
        request = _build_request(deps, call, provided_arguments, message)
        return await execute(deps, limiter, call, partial(_send, deps, call, request))


async def _authorize_call(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> tuple[App, bool]:
    """Return an app that its user allowed, that works, and that they did not call too often.

    Beside it, whether this is their first call in the hour.
    """
    now = deps.clock.now()
    context = await deps.stores.app_calls.load_context(uid, app_id, floor_to_hour(now))
    app = context.app
    if app is None or not context.is_installed or not app.is_visible_to(uid):
        raise ToolRefused("This app is not installed.")
    if app.switched_off:
        raise ToolFailed(f"{app.name} is switched off, as it did not work. Its developer was told.")
    check_quota(app.id, app.name, context.calls_this_hour, now)
    return app, not context.calls_this_hour


def _require_tool(app: App, name: str) -> ChatTool:
    for tool in app.chat_tools:
        if tool.name == name:
            return tool
    raise ToolRefused(f"The app {app.name!r} has no tool {name!r}.")


def _drop_nulls(tool: ChatTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out optional nulls: models send them for what they do not mean to give."""
    required = tool.parameters.get("required", ())
    return {n: value for n, value in arguments.items() if value is not None or n in required}


def _build_request(
    deps: ToolProxyDeps, call: OutgoingCall, arguments: Mapping[str, Any], message: str
) -> EgressRequest:
    """Put what is sent into the body, or into the query where the method has no body.

    Raises ToolRefused for a query that nobody would take: that is no failure of the app's.
    """
    app, tool = call.app, call.tool
    fields = {**arguments, "uid": call.uid, "app_id": app.id, "tool_name": tool.name}
    url, body = tool.endpoint, b""
    if tool.method in ("GET", "DELETE"):
        url = with_query(url, {n: _to_query_value(v) for n, v in fields.items() if v is not None})
        if len(url) > MAX_URL_CHARS:
            raise ToolRefused(f"The arguments of {tool.name!r} are too long for an address.")
    else:
        body = to_compact_json(fields).encode()
    signature = sign(app, body, message, deps.clock.now())
    return EgressRequest(
        method=tool.method,
        url=url,
        headers={"Content-Type": "application/json", **signature},
        body=body or None,
        timeout_s=TIMEOUT_S,
        accepts=("application/json", "application/xml", "text/*"),
    )


def _to_query_value(value: Any) -> Any:
    """Write a value as queries do: true, 3, a repeated name for a list, JSON for an object."""
    if isinstance(value, list):
        return [_to_query_value(item) for item in value]
    return value if isinstance(value, str) else to_compact_json(value)


async def _send(deps: ToolProxyDeps, call: OutgoingCall, request: EgressRequest) -> str:
    with translate_egress_errors(call.tool.name):
        response = await deps.egress.send(request)
    return to_model_text(call, response)
