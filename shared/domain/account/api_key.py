"""API keys: what another program proves with that it may use its user's library."""

from datetime import datetime
from typing import Literal, TypeAlias

from shared.domain.value import value

KeyScope = Literal["read", "write"]
"""`write` includes reading."""

DeveloperScope: TypeAlias = Literal[
    "conversations:read",
    "conversations:write",
    "memories:read",
    "memories:write",
    "action_items:read",
    "action_items:write",
    "goals:read",
    "goals:write",
]
"""Neither includes the other: a script that only writes reads nothing."""

READ_SCOPES: tuple[DeveloperScope, ...] = (
    "conversations:read",
    "memories:read",
    "action_items:read",
    "goals:read",
)


@value
class McpKey:
    """A key of an MCP client as it is stored: `id` is its SHA-256, `label` its end, for people.

    Keys of before have no end, and the scope `write`. `last_used_at` is about an hour exact.
    """

    id: str
    name: str
    label: str
    created_at: datetime
    expires_at: datetime | None = None
    scope: KeyScope = "write"
    last_used_at: datetime | None = None


@value
class DeveloperKey:
    """A key of a script of the user's own, stored as an McpKey is; it may do what its scopes name."""

    id: str
    name: str
    label: str
    created_at: datetime
    expires_at: datetime | None = None
    scopes: tuple[DeveloperScope, ...] = READ_SCOPES
    last_used_at: datetime | None = None
