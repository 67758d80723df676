"""MCP transport: a tool call as an exchange with the app's MCP server."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from functions.tool_proxy.calls.failures import CallFailed, translate_egress_errors
from functions.tool_proxy.mcp_servers.errors import ProtocolError, Unauthorized
from functions.tool_proxy.mcp_servers.local_egress import allow_local
from functions.tool_proxy.mcp_servers.mcp_results import to_tool_data
from functions.tool_proxy.mcp_servers.tokens import call_with_token
from functions.tool_proxy.oauth_deps import McpDeps
from functions.tool_proxy.ports import OutgoingCall
from shared.domain.apps.tool_data import ToolData
from shared.domain.value import value
from shared.outbound.untrusted_text import sanitize_reason

if TYPE_CHECKING:
    from mcp_types import CallToolResult


@value
class McpTransport:
    """Calls the tools of MCP servers, with the user's token if the server asks for one.

    The server gets the arguments, and nothing about the user.
    """

    deps: McpDeps

    def prepare(
        self, call: OutgoingCall, arguments: Mapping[str, Any]
    ) -> Callable[[], Awaitable[ToolData]]:
        return partial(self._send, call, arguments)

    async def _send(self, call: OutgoingCall, arguments: Mapping[str, Any]) -> ToolData:
        tool = call.tool
        try:
            with translate_egress_errors(tool.name):
                return to_tool_data(tool, await self._call_server(call, arguments))
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
        self, call: OutgoingCall, arguments: Mapping[str, Any]
    ) -> "CallToolResult":
        from functions.tool_proxy.mcp_servers import client

        tool, deps = call.tool, allow_local(self.deps, call.app)
        ask = partial(
            client.call_tool,
            deps.egress,
            tool.endpoint,
            name=tool.name,
            arguments=dict(arguments),
        )
        return await call_with_token(deps, call.uid, call.app, ask)
