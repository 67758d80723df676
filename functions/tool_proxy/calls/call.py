"""One tool call: installed, declared, well-formed; signed, sent, and told to the model."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from functions.tool_proxy.addresses import with_query
from functions.tool_proxy.apps.signing import message_id, signature_headers
from functions.tool_proxy.calls.outgoing import TIMEOUT_S, Outgoing, send_out, unanswered
from functions.tool_proxy.calls.quota import check_quota
from functions.tool_proxy.calls.results import compact, text_of
from functions.tool_proxy.calls.schema import complaint
from functions.tool_proxy.mcp_servers.call import call_over_mcp
from functions.tool_proxy.wiring import ToolProxyDeps
from shared.domain.app import App, ChatTool
from shared.domain.egress import LONGEST_URL
from shared.domain.errors import ToolFailed, ToolRefused
from shared.domain.hours import hour_of
from shared.domain.ids import AppId, UserId
from shared.ports import EgressRequest


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
    lane = deps.traffic.lane(app_id)
    with lane.entered():
        app, is_first = await _permitted(deps, uid, app_id)
        tool = _declared(app, name)
        given = _given(tool, arguments)
        if wrong := complaint(tool.parameters, given):
            raise ToolRefused(f"The arguments of {name!r} do not fit: {wrong}")
        call = Outgoing(uid=uid, app=app, tool=tool, is_first=is_first)
        if tool.transport == "mcp":
            return await send_out(deps, lane, call, partial(call_over_mcp, deps, call, given))
        message = message_id(uid, app_id, name, call_id or deps.new_id())
        request = _request(deps, call, given, message)
        return await send_out(deps, lane, call, partial(_send, deps, call, request))


async def _permitted(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> tuple[App, bool]:
    """Return an app that its user allowed, that works, and that they did not call too often.

    Beside it, whether this is their first call in the hour.
    """
    now = deps.clock.now()
    standing = await deps.app_calls.standing(uid, app_id, hour_of(now))
    app = standing.app
    if app is None or not standing.is_installed or not app.is_visible_to(uid):
        raise ToolRefused("This app is not installed.")
    if app.switched_off:
        raise ToolFailed(f"{app.name} is switched off, as it did not work. Its developer was told.")
    check_quota(app.id, app.name, standing.made, now)
    return app, not standing.made


def _declared(app: App, name: str) -> ChatTool:
    for tool in app.chat_tools:
        if tool.name == name:
            return tool
    raise ToolRefused(f"The app {app.name!r} has no tool {name!r}.")


def _given(tool: ChatTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out optional nulls: models send them for what they do not mean to give."""
    required = tool.parameters.get("required", ())
    return {n: value for n, value in arguments.items() if value is not None or n in required}


def _request(
    deps: ToolProxyDeps, call: Outgoing, given: Mapping[str, Any], message: str
) -> EgressRequest:
    """Put what is sent into the body, or into the query where the method has no body.

    Raises ToolRefused for a query that nobody would take: that is no failure of the app's.
    """
    app, tool = call.app, call.tool
    sent = {**given, "uid": call.uid, "app_id": app.id, "tool_name": tool.name}
    url, body = tool.endpoint, b""
    if tool.method in ("GET", "DELETE"):
        url = with_query(url, {n: _plain(v) for n, v in sent.items() if v is not None})
        if len(url) > LONGEST_URL:
            raise ToolRefused(f"The arguments of {tool.name!r} are too long for an address.")
    else:
        body = compact(sent).encode()
    signature = signature_headers(app, body, message, deps.clock.now())
    return EgressRequest(
        method=tool.method,
        url=url,
        headers={"Content-Type": "application/json", **signature},
        body=body or None,
        timeout_s=TIMEOUT_S,
        accepts=("application/json", "application/xml", "text/*"),
    )


def _plain(value: Any) -> Any:
    """Write a value as queries do: true, 3, a repeated name for a list, JSON for an object."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str) else compact(value)


async def _send(deps: ToolProxyDeps, call: Outgoing, request: EgressRequest) -> str:
    with unanswered(call.tool.name):
        response = await deps.egress.send(request)
    return text_of(call, response)
