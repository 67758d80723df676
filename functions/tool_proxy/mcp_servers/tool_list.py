"""Tool list of an MCP server, parsed with the checks that manifests are parsed with."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from functions.tool_proxy.ports import Manifest
from functions.tool_proxy.registry.manifest import read_manifest
from shared.domain.apps.app import ExternalIntegration

if TYPE_CHECKING:
    from mcp_types import Tool


def parse_tools(tools: "Sequence[Tool]", integration: ExternalIntegration) -> Manifest:
    """Read listed tools as a manifest that declares the same. Raises InvalidManifest."""
    declarations = [_to_declaration(tool, integration) for tool in tools]
    manifest = read_manifest(json.dumps({"tools": declarations}).encode(), integration)
    return replace(manifest, tools=tuple(replace(tool, transport="mcp") for tool in manifest.tools))


def _to_declaration(tool: "Tool", integration: ExternalIntegration) -> dict[str, Any]:
    hints = tool.annotations
    return {
        "name": tool.name,
        "description": tool.description or tool.title or tool.name,
        "endpoint": integration.mcp_server_url,
        "parameters": tool.input_schema,
        "status_message": tool.title,
        "read_only": bool(hints and hints.read_only_hint),
        "destructive": bool(hints and hints.destructive_hint),
    }
