"""MCP key: lets another program use its user's library."""

from datetime import datetime

from shared.domain.value import value


@value
class McpKey:
    """As it is stored: `id` is the SHA-256 of the key, `label` what its owner can tell it by."""

    id: str
    name: str
    label: str
    created_at: datetime
