"""Dependencies of the tool proxy: the ports and stores that its stories use."""

from collections.abc import Mapping

from shared.data.grants import AccountTokenStore, Authorizations
from shared.data.mcp_grants import McpAuthorizations, McpTokenStore
from shared.data.stores import Stores
from shared.domain.connection import OauthClient
from shared.domain.value import value
from shared.outbound.app_limiter import AppLimiters
from shared.ports import Clock, Egress, Identity, Keys, NewId, ServiceIdentity, Tasks


@value
class ServicesDeps:
    """What connected accounts need.

    `clients` holds our OAuth client at each provider that is set up; for a service that we call with
    a key of our own, its secret is that key. Providers send users back to `redirect_uri`.
    """

    clock: Clock
    new_id: NewId
    egress: Egress
    stores: Stores
    grants: AccountTokenStore
    authorizations: Authorizations
    clients: Mapping[str, OauthClient]
    redirect_uri: str
    keys: Keys


@value
class McpDeps:
    """What MCP servers that ask for authorization need.

    Their authorization servers send users back to `redirect_uri`.
    """

    grants: McpTokenStore
    authorizations: McpAuthorizations
    keys: Keys
    redirect_uri: str


@value
class ToolProxyDeps:
    """What calls of apps, their registration and their webhooks need."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    new_id: NewId
    egress: Egress
    tasks: Tasks
    stores: Stores
    services: ServicesDeps
    mcp: McpDeps
    app_limiters: AppLimiters
    cors_origins: tuple[str, ...] = ()
