"""A tool call over MCP: sent to the server, and told to the model."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from functions.tool_proxy.mcp_errors import ProtocolError, Unauthorized
from functions.tool_proxy.mcp_results import text_of
from functions.tool_proxy.results import reason_of
from functions.tool_proxy.wiring import ToolProxyDeps
from shared.domain.app import App, ChatTool
from shared.domain.errors import NotAllowed, TimedOut, TooLarge, ToolFailed, Unavailable

if TYPE_CHECKING:
    from mcp_types import CallToolResult


async def call_over_mcp(
    deps: ToolProxyDeps, app: App, tool: ChatTool, arguments: Mapping[str, Any]
) -> str:
    """Return text for the model. Raises ToolFailed.

    The server gets the arguments and nothing about the user.
    """
    try:
        return text_of(tool, await _answer(deps, tool, arguments))
    except Unauthorized as challenged:
        raise ToolFailed(f"{app.name} needs its user to connect an account first.") from challenged
    except TimedOut as late:
        raise ToolFailed(f"Error: Timeout calling {tool.name}. {late}") from late
    except Unavailable as unreachable:
        raise ToolFailed(
            f"Error: Could not connect to {tool.name}. The app's server may be unreachable."
        ) from unreachable
    except ProtocolError as refused:
        raise ToolFailed(f"Error calling {tool.name}: {reason_of(str(refused))}") from refused
    except (NotAllowed, TooLarge) as refused:
        raise ToolFailed(f"Error calling {tool.name}: {refused}") from refused


async def _answer(
    deps: ToolProxyDeps, tool: ChatTool, arguments: Mapping[str, Any]
) -> "CallToolResult":
    from functions.tool_proxy import mcp_client

    return await mcp_client.call(
        deps.egress, tool.endpoint, token=None, name=tool.name, arguments=dict(arguments)
    )
