"""What an MCP server lists, read with the suspicion that manifests are read with."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.mcp_servers.tokens import call_with_token
from functions.tool_proxy.registry.manifest import Manifest, read_manifest
from shared.domain.app import App, ExternalIntegration

if TYPE_CHECKING:
    from mcp_types import Tool


async def fetch_tools(deps: ToolProxyDeps, app: App, url: str) -> Manifest:
    """Ask an app's server for its tools. Raises as the client does, and BadManifest."""
    from functions.tool_proxy.mcp_servers import client

    ask = partial(client.list_tools, deps.egress, url)
    tools = await call_with_token(deps, app.owner, app, ask)
    parse = partial(parse_tools, tools, app.external_integration)
    return await anyio.to_thread.run_sync(parse)  # many take a second of computing


def parse_tools(tools: "Sequence[Tool]", integration: ExternalIntegration) -> Manifest:
    """Read listed tools as a manifest that declares the same. Raises BadManifest.

    `read_only` is what the server says; a call over MCP is a POST, so it allows nothing by itself.
    """
    declarations = [_to_declaration(tool, integration) for tool in tools]
    manifest = read_manifest(json.dumps({"tools": declarations}).encode(), integration)
    read_only = {
        tool.name for tool in tools if tool.annotations and tool.annotations.read_only_hint
    }
    return replace(
        manifest,
        tools=tuple(
            replace(tool, transport="mcp", read_only=tool.name in read_only)
            for tool in manifest.tools
        ),
    )


def _to_declaration(tool: "Tool", integration: ExternalIntegration) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description or tool.title or tool.name,
        "endpoint": integration.mcp_server_url,
        "parameters": tool.input_schema,
        "status_message": tool.title,
    }
