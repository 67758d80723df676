"""MCP key: lets another program use its user's library."""

from datetime import datetime

from shared.domain.value import value


@value
class McpKey:
    """A key as it is stored: `id` is its SHA-256, `label` its end, for people."""

    id: str
    name: str
    label: str
    created_at: datetime
