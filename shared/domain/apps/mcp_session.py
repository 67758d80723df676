"""MCP session: what a hosted MCP client began with `initialize`, or by opening a stream."""

from datetime import datetime, timedelta

from shared.domain.value import value

SESSION_TTL = timedelta(hours=24)
"""After that a client begins anew, as the protocol lets it."""


@value
class McpSession:
    """A session of one user's client, until `expires_at`."""

    id: str
    created_at: datetime
    expires_at: datetime


@value
class McpReply:
    """An answer that waits for the stream of its session: `text` is one JSON-RPC message."""

    id: str
    at: datetime
    text: str
    expires_at: datetime
