"""Connections to outside services, and the OAuth tokens of their accounts."""

from datetime import datetime
from typing import Generic, Literal, TypeVar

from shared.domain.value import value

Service = Literal["google_calendar", "gmail", "whoop", "notion", "x", "github", "perplexity", "web"]
Health = Literal["connected", "expired"]
T = TypeVar("T")


@value
class Connection:
    """A connected account, without its tokens; `id` is the service.

    `account` is the service's name for the account, or empty. The user must connect an `expired`
    one again.
    """

    id: Service
    account: str
    scopes: tuple[str, ...]
    connected_at: datetime
    health: Health = "connected"


@value
class Tokens:
    """OAuth tokens. Without `expires_at` the access token is valid until it is refused."""

    access_token: str
    refresh_token: str | None = None
    expires_at: datetime | None = None


@value
class StoredTokens(Generic[T]):
    """Tokens of an account as they are stored; `version` changes whenever they are replaced."""

    tokens: T
    version: str
    health: Health = "connected"


@value
class Authorization:
    """An authorization in progress: the user may return once, until `expires_at`.

    `verifier` is the secret of PKCE (RFC 7636).
    """

    id: str
    service: Service
    verifier: str
    expires_at: datetime


@value
class OauthClient:
    """Our OAuth client at a provider; `base_url` replaces the origin of all its addresses."""

    id: str
    secret: str
    base_url: str | None = None
