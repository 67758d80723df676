"""MCP manifest source: the tools that an app's MCP server lists, read as a manifest."""

from functools import partial

import anyio.to_thread

from functions.tool_proxy.mcp_servers.errors import AuthorizationNeeded, ProtocolError, Unauthorized
from functions.tool_proxy.mcp_servers.local_egress import allow_local
from functions.tool_proxy.mcp_servers.tokens import call_with_token
from functions.tool_proxy.mcp_servers.tool_list import parse_tools
from functions.tool_proxy.oauth_deps import McpDeps
from functions.tool_proxy.ports import Manifest
from functions.tool_proxy.registry.manifest import InvalidManifest
from shared.domain.apps.app import App
from shared.domain.errors import ManifestFailed, NoManifest, NotAllowed, TooLarge, Unavailable
from shared.domain.value import value
from shared.outbound.untrusted_text import sanitize_reason


@value
class McpManifestSource:
    """Asks the server at `mcp_server_url`, with its owner's token if it asks for one."""

    deps: McpDeps

    async def fetch(self, app: App) -> Manifest:
        """Raises AuthorizationNeeded if the owner has to allow access first."""
        try:
            return await self._list_tools(app)
        except NotAllowed as refusal:
            raise NoManifest(f"The address of the MCP server is refused: {refusal}") from refusal
        except Unauthorized as challenge:
            raise AuthorizationNeeded(challenge.challenge) from challenge
        except ProtocolError as failure:
            raise ManifestFailed(
                f"The MCP server refused: {sanitize_reason(str(failure))}"
            ) from failure
        except (Unavailable, TooLarge, InvalidManifest) as failure:
            raise ManifestFailed(f"The MCP server could not be asked: {failure}") from failure

    async def _list_tools(self, app: App) -> Manifest:
        from functions.tool_proxy.mcp_servers import client

        url = app.external_integration.mcp_server_url or ""
        deps = allow_local(self.deps, app)
        ask = partial(client.list_tools, deps.egress, url)
        tools = await call_with_token(deps, app.owner, app, ask)
        parse = partial(parse_tools, tools, app.external_integration)
        return await anyio.to_thread.run_sync(parse)  # many take a second of computing
