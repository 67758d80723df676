"""Dependencies of the tool proxy: the ports and stores that its stories use."""

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from functions.tool_proxy.ports import ManifestSource, Transport, TransportName
from shared.data.app_listings import AppListings
from shared.data.authorization_store import AuthorizationStore, ExpiringAuthorization
from shared.data.quotas import Quotas
from shared.data.signing_secrets import SigningSecrets
from shared.data.stores import Stores
from shared.data.token_store import AccountTokenStore, TokenStore
from shared.domain.connection import Authorization, OauthClient
from shared.domain.mcp_authorization import McpAuthorization, McpTokens
from shared.domain.value import value
from shared.outbound.app_limiter import AppLimiters
from shared.ports import Clock, Egress, Identity, Keys, NewId, ServiceIdentity, Tasks
from shared.security.delegations import Delegations

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


@value
class ToolProxyDeps:
    """What calls of apps, their registration and their webhooks need.

    Clients load the pictures of apps from `public_url`.
    """

    identity: Identity
    service_identity: ServiceIdentity
    delegations: Delegations
    clock: Clock
    new_id: NewId
    egress: Egress
    tasks: Tasks
    stores: Stores
    quotas: Quotas
    services: ServicesDeps
    mcp: McpDeps
    choose_transport: Callable[[TransportName], Transport]
    choose_manifest_source: Callable[[TransportName], ManifestSource]
    app_limiters: AppLimiters
    signing_secrets: SigningSecrets
    listings: AppListings
    public_url: str
