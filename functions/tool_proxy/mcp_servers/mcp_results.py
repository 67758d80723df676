"""MCP result mapping: a server's result as text for the model."""

from typing import TYPE_CHECKING, assert_never

from functions.tool_proxy.calls.failures import CallFailed
from functions.tool_proxy.calls.result_mapping import to_compact_json
from shared.domain.app import ChatTool
from shared.outbound.untrusted_text import sanitize_reason, sanitize_result

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock


def to_model_text(tool: ChatTool, result: "CallToolResult") -> str:
    """Return text for the model. Raises CallFailed for a result that the server marks as an error."""
    text = "\n".join(filter(None, map(_to_text, result.content)))
    if result.is_error:
        message = f"Error calling {tool.name}: {sanitize_reason(text) or 'no reason given'}"
        raise CallFailed(message, error="isError")
    if not text and result.structured_content is not None:
        text = to_compact_json(result.structured_content)
    return sanitize_result(text)


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
