"""MCP key: lets another program use its user's library."""

from datetime import datetime
from typing import Literal

from shared.domain.value import value

KeyScope = Literal["read", "write"]
"""`write` includes reading."""


@value
class McpKey:
    """A key as it is stored: `id` is its SHA-256, `label` its end, for people.

    Keys of before have no end, and the scope `write`.
    """

    id: str
    name: str
    label: str
    created_at: datetime
    expires_at: datetime | None = None
    scope: KeyScope = "write"
