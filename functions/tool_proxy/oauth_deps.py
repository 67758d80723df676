"""Dependencies of what speaks OAuth: connected accounts, and MCP servers that ask for authorization."""

from collections.abc import Mapping
from typing import Generic, TypeVar

from shared.data.account.quotas import Quotas
from shared.data.apps.authorization_store import AuthorizationStore, ExpiringAuthorization
from shared.data.apps.token_store import AccountTokenStore, TokenStore
from shared.data.stores import Stores
from shared.domain.apps.connection import Authorization, OauthClient
from shared.domain.apps.mcp_authorization import McpAuthorization, McpTokens
from shared.domain.value import value
from shared.ports import Clock, Egress, Keys, NewId

A = TypeVar("A", bound=ExpiringAuthorization)


@value
class OauthDeps(Generic[A]):
    """What an authorization needs; authorization servers send users back to `redirect_uri`."""

    clock: Clock
    new_id: NewId
    egress: Egress
    authorizations: AuthorizationStore[A]
    keys: Keys
    redirect_uri: str


@value
class ServicesDeps(OauthDeps[Authorization]):
    """What connected accounts need.

    `clients` holds our OAuth client at each provider that is set up; for a service that we call with
    a key of our own, its secret is that key.
    """

    stores: Stores
    quotas: Quotas
    tokens: AccountTokenStore
    clients: Mapping[str, OauthClient]


@value
class McpDeps(OauthDeps[McpAuthorization]):
    """What MCP servers that ask for authorization need."""

    tokens: TokenStore[McpTokens]
