"""One tool call: installed, declared, well-formed; signed, sent, and told to the model."""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from functions.tool_proxy.access import visible
from functions.tool_proxy.mcp_call import call_over_mcp
from functions.tool_proxy.results import text_of
from functions.tool_proxy.schema import complaint
from functions.tool_proxy.signing import signature_headers
from functions.tool_proxy.wiring import ToolProxyDeps
from shared.domain.app import App, ChatTool
from shared.domain.errors import (
    NotAllowed,
    NotFound,
    TimedOut,
    TooLarge,
    ToolFailed,
    ToolRefused,
    Unavailable,
    Unreadable,
)
from shared.domain.ids import AppId, UserId
from shared.ports import EgressRequest

TIMEOUT_S = 30


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
    app = await _installed(deps, uid, app_id)
    tool = _declared(app, name)
    given = _given(tool, arguments)
    if wrong := complaint(tool.parameters, given):
        raise ToolRefused(f"The arguments of {name!r} do not fit: {wrong}")
    if tool.transport == "mcp":
        return await call_over_mcp(deps, app, tool, given)
    sent = {**given, "uid": uid, "app_id": app.id, "tool_name": tool.name}
    message_id = _message_id(uid, app_id, name, call_id or deps.new_id())
    return await _send(deps, app, tool, _request(deps, app, tool, sent, message_id))


async def _installed(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> App:
    if await deps.installed_apps.has(uid, app_id):
        with suppress(NotFound):
            return await visible(deps, uid, app_id)
    raise ToolRefused("This app is not installed.")


def _declared(app: App, name: str) -> ChatTool:
    for tool in app.chat_tools:
        if tool.name == name:
            return tool
    raise ToolRefused(f"The app {app.name!r} has no tool {name!r}.")


def _given(tool: ChatTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out optional nulls: models send them for what they do not mean to give."""
    required = tool.parameters.get("required", ())
    return {n: value for n, value in arguments.items() if value is not None or n in required}


def _message_id(uid: UserId, app_id: AppId, name: str, call_id: str) -> str:
    return "msg_" + hashlib.sha256(f"{uid}|{app_id}|{name}|{call_id}".encode()).hexdigest()[:32]


def _request(
    deps: ToolProxyDeps, app: App, tool: ChatTool, sent: Mapping[str, Any], message_id: str
) -> EgressRequest:
    """Put what is sent into the body, or into the query where the method has no body."""
    url, body = tool.endpoint, b""
    if tool.method in ("GET", "DELETE"):
        url += ("&" if "?" in url else "?") + _query(sent)
    else:
        body = _compact(sent).encode()
    signature = signature_headers(app, body, message_id, deps.clock.now())
    return EgressRequest(
        method=tool.method,
        url=url,
        headers={"Content-Type": "application/json", **signature},
        body=body or None,
        timeout_s=TIMEOUT_S,
        accepts=("application/json", "application/xml", "text/*"),
    )


def _query(sent: Mapping[str, Any]) -> str:
    return urlencode({n: _plain(v) for n, v in sent.items() if v is not None}, doseq=True)


def _plain(value: Any) -> Any:
    """Write a value as queries do: true, 3, a repeated name for a list, JSON for an object."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str) else _compact(value)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


async def _send(deps: ToolProxyDeps, app: App, tool: ChatTool, request: EgressRequest) -> str:
    try:
        response = await deps.egress.send(request)
    except TimedOut as late:
        raise ToolFailed(
            f"Error: Timeout calling {tool.name}."
            f" The app endpoint did not respond within {TIMEOUT_S} seconds."
        ) from late
    except (NotAllowed, TooLarge, Unreadable) as refused:
        raise ToolFailed(f"Error calling {tool.name}: {refused}") from refused
    except Unavailable as unreachable:
        raise ToolFailed(
            f"Error: Could not connect to {tool.name}. The app endpoint may be unreachable."
        ) from unreachable
    return text_of(app, tool, response)
