"""MCP result mapping: a server's result as text or data."""

from typing import TYPE_CHECKING, Any, assert_never

from pydantic_core import from_json

from functions.tool_proxy.calls.failures import CallFailed
from shared.domain.apps.app import ChatTool
from shared.domain.apps.tool_data import ToolData
from shared.outbound.untrusted_text import sanitize_content, sanitize_reason

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock


def to_tool_data(tool: ChatTool, result: "CallToolResult") -> ToolData:
    """Return what the server says. Raises CallFailed for a result that it marks as an error.

    Its structured content counts where its text says the same, as the protocol asks, or nothing.
    """
    text = "\n".join(filter(None, map(_to_text, result.content)))
    if result.is_error:
        message = f"Error calling {tool.name}: {sanitize_reason(text) or 'no reason given'}"
        raise CallFailed(message, error="isError")
    structured = result.structured_content
    is_same = structured is not None and (not text or _parse(text) == structured)
    return ToolData(content=sanitize_content(structured if is_same else text))


def _parse(text: str) -> Any:
    """Return the JSON that a text is, None where it is none."""
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        return None


def _to_text(content: "ContentBlock") -> str:
    match content.type:
        case "text":
            return content.text
        case "resource_link":
            return f"{content.title or content.name}: {content.uri}"
        case "resource":
            return getattr(content.resource, "text", f"({content.resource.uri}, left out)")
        case "image" | "audio":
            return f"({content.type} left out)"
    assert_never(content.type)
