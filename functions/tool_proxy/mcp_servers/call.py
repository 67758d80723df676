"""A tool call over MCP: sent to the server, and told to the model."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from functions.tool_proxy.calls.outgoing import CallFailed, Outgoing, unanswered
from functions.tool_proxy.calls.results import reason_of
from functions.tool_proxy.mcp_servers.errors import ProtocolError, Unauthorized
from functions.tool_proxy.mcp_servers.results import text_of
from functions.tool_proxy.mcp_servers.tokens import opened
from functions.tool_proxy.wiring import ToolProxyDeps

if TYPE_CHECKING:
    from mcp_types import CallToolResult


async def call_over_mcp(deps: ToolProxyDeps, call: Outgoing, arguments: Mapping[str, Any]) -> str:
    """Return text for the model. Raises CallFailed.

    The server gets the arguments and nothing about the user.
    """
    tool = call.tool
    try:
        with unanswered(tool.name):
            return text_of(tool, await _answer(deps, call, arguments))
    except Unauthorized as challenged:
        message = (
            f"{call.app.name} needs its user to connect an account first."
            " They can do so by refreshing the app in the settings."
        )
        raise CallFailed(message, error="HTTP 401") from challenged
    except ProtocolError as refused:
        message = f"Error calling {tool.name}: {reason_of(str(refused))}"
        raise CallFailed(message, error="MCP error") from refused


async def _answer(
    deps: ToolProxyDeps, call: Outgoing, arguments: Mapping[str, Any]
) -> "CallToolResult":
    from functions.tool_proxy.mcp_servers import client

    tool = call.tool
    ask = partial(
        client.call, deps.egress, tool.endpoint, name=tool.name, arguments=dict(arguments)
    )
    return await opened(deps, call.uid, call.app, ask)
