"""A tool call over MCP: sent to the server, and told to the model."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from functions.tool_proxy.calls.outgoing import CallFailed, OutgoingCall, translate_egress_errors
from functions.tool_proxy.calls.result_mapping import sanitize_reason
from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.mcp_servers.errors import ProtocolError, Unauthorized
from functions.tool_proxy.mcp_servers.mcp_results import to_model_text
from functions.tool_proxy.mcp_servers.tokens import call_with_token

if TYPE_CHECKING:
    from mcp_types import CallToolResult


async def call_over_mcp(
    deps: ToolProxyDeps, call: OutgoingCall, arguments: Mapping[str, Any]
) -> str:
    """Return text for the model. Raises CallFailed.

    The server gets the arguments and nothing about the user.
    """
    tool = call.tool
    try:
        with translate_egress_errors(tool.name):
            return to_model_text(tool, await _call_server(deps, call, arguments))
    except Unauthorized as challenge:
        message = (
            f"{call.app.name} needs its user to connect an account first."
            " They can do so by refreshing the app in the settings."
        )
        raise CallFailed(message, error="HTTP 401") from challenge
    except ProtocolError as refusal:
        message = f"Error calling {tool.name}: {sanitize_reason(str(refusal))}"
        raise CallFailed(message, error="MCP error") from refusal


async def _call_server(
    deps: ToolProxyDeps, call: OutgoingCall, arguments: Mapping[str, Any]
) -> "CallToolResult":
    from functions.tool_proxy.mcp_servers import client

    tool = call.tool
    ask = partial(
        client.call_tool, deps.egress, tool.endpoint, name=tool.name, arguments=dict(arguments)
    )
    return await call_with_token(deps, call.uid, call.app, ask)
