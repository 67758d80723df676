"""Schemas of MCP keys, which their owner creates and lists."""

from typing import Annotated

from pydantic import Field, StringConstraints

from functions.process_conversation.library.conversation_schemas import Utc
from shared.domain.mcp_key import KeyScope
from shared.edge.schemas import Wire


class McpKeyIn(Wire):
    """A new key, named after the program that will use it."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
    expires_in_days: Annotated[int, Field(ge=1, le=366)] = 365
    scope: KeyScope = "write"


class McpKeyOut(Wire):
    """A key without its secret."""

    id: str
    name: str
    label: str
    created_at: Utc
    expires_at: Utc | None
    scope: KeyScope


class NewMcpKeyOut(McpKeyOut):
    """A new key; `key` is shown only once."""

    key: str
