"""The HTTP contract of connected accounts."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from functions.tool_proxy.accounts.connections import Offer
from shared.edge.http import Wire


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
    def of(cls, offer: Offer) -> "ConnectionOut":
        connected = offer.connection
        return cls(
            service=offer.service.service,
            label=offer.service.label,
            available=offer.is_set_up,
            status=connected.health if connected else "not_connected",
            account=connected.account if connected else None,
            scopes=list(connected.scopes) if connected else [],
            connected_at=connected.connected_at if connected else None,
        )


class AuthorizeOut(Wire):
    """Where to send the user; they come back within ten minutes, once, and in the same browser."""

    url: str


class Returned(Wire):
    """What a provider sends a user back with: a code, or an error."""

    state: str = Field(max_length=2_000)
    code: str | None = Field(default=None, max_length=4_000)


class Disconnected(Wire):
    """The tokens are forgotten; `revoked`: the service took them back, too."""

    status: Literal["ok"] = "ok"
    revoked: bool
