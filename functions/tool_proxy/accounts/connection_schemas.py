"""The HTTP contract of connected accounts."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from functions.tool_proxy.accounts.connections import ConnectableService
from shared.edge.schemas import Wire


class ConnectionOut(Wire):
    """A service whose account can be connected. `available`: whether it is set up on this server.

    `expired` asks the owner to connect it again; `account` is how the service names the account.
    """

    service: str
    label: str
    available: bool
    status: Literal["connected", "expired", "not_connected"]
    account: str | None = None
    scopes: list[str] = Field(default=[])
    connected_at: datetime | None = None

    @classmethod
    def of(cls, connectable: ConnectableService) -> "ConnectionOut":
        connection = connectable.connection
        return cls(
            service=connectable.service.service,
            label=connectable.service.label,
            available=connectable.is_set_up,
            status=connection.health if connection else "not_connected",
            account=connection.account if connection else None,
            scopes=list(connection.scopes) if connection else [],
            connected_at=connection.connected_at if connection else None,
        )


class AuthorizeOut(Wire):
    """Where to send the user; they come back within ten minutes, once, and in the same browser."""

    url: str


class CallbackIn(Wire):
    """What a provider sends a user back with: a code, or an error."""

    state: str = Field(max_length=2_000)
    code: str | None = Field(default=None, max_length=4_000)


class DisconnectOut(Wire):
    """The tokens are forgotten; `revoked`: the service took them back, too."""

    status: Literal["ok"] = "ok"
    revoked: bool
