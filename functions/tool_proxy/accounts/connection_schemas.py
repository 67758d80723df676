"""Request and response bodies of connections."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from functions.tool_proxy.accounts.connections import ConnectableService
from shared.edge.declare.schemas import Wire


class ConnectionOut(Wire):
    """A service whose account can be connected. `available`: it is set up on this server.

    `expired`: the user has to connect it again. `account` is the service's name of the account.
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
    """The page to open. It leads back within ten minutes, once, in the same browser."""

    url: str


class CallbackIn(Wire):
    """The parameters of an OAuth callback: a code, or none after an error."""

    state: str = Field(max_length=2_000)
    code: str | None = Field(default=None, max_length=4_000)


class StartIn(Wire):
    """The link that an app opened."""

    token: str = Field(max_length=8_000)


class StartConfirmation(StartIn):
    """The form of the page behind the link."""

    nonce: str = Field(min_length=1, max_length=64)


class DisconnectOut(Wire):
    """The tokens are deleted; `revoked`: the service revoked them too."""

    status: Literal["ok"] = "ok"
    revoked: bool
