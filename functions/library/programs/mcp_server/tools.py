"""MCP tools: all that a client with a key can call, whatever its transport."""

from collections.abc import Mapping

from functions.library.programs.mcp_server import (
    connector_tools,
    conversation_tools,
    memory_tools,
    task_tools,
)
from functions.library.programs.mcp_server.library_tool import LibraryTool
from shared.domain.account.api_key import KeyScope

TOOLS: Mapping[str, LibraryTool] = {
    tool.name: tool
    for tool in (
        *conversation_tools.TOOLS,
        *memory_tools.TOOLS,
        *task_tools.TOOLS,
        *connector_tools.TOOLS,
    )
}


def list_tools(scope: KeyScope) -> Mapping[str, LibraryTool]:
    """Return the tools that a key may call."""
    return {name: tool for name, tool in TOOLS.items() if tool.is_read_only or scope == "write"}
