"""The ports and stores of the tool proxy, built once per instance."""

from collections.abc import Mapping
from dataclasses import field
from functools import cache

from shared import wiring
from shared.data.app_calls import AppCalls
from shared.data.apps import Apps, InstalledApps
from shared.data.call_log import CallLog
from shared.data.connections import Connections
from shared.data.conversations import Conversations
from shared.data.grants import AccountTokenStore, Authorizations
from shared.data.inbox import Inbox
from shared.data.mcp_grants import McpAuthorizations, McpTokenStore
from shared.domain.connection import OauthClient
from shared.domain.value import value
from shared.outbound.app_limiter import AppLimiters
from shared.ports import Clock, Egress, Identity, Keys, NewId, ServiceIdentity, Tasks


@value
class ServicesDeps:
    """What connected accounts ask of the world.

    `clients` says who we are at each provider that is set up, also where we ask with a key of our
    own, which then is its secret. Users come back from providers to `redirect_uri`.
    """

    clock: Clock
    new_id: NewId
    egress: Egress
    connections: Connections
    grants: AccountTokenStore
    authorizations: Authorizations
    app_calls: AppCalls
    clients: Mapping[str, OauthClient]
    redirect_uri: str
    keys: Keys


@value
class McpDeps:
    """What MCP servers that ask for authorization ask of the world.

    Users come back from their authorization servers to `redirect_uri`.
    """

    grants: McpTokenStore
    authorizations: McpAuthorizations
    keys: Keys
    redirect_uri: str


@value
class ToolProxyDeps:
    """Everything that a call to an app, or an app's registration, asks of the world."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    new_id: NewId
    egress: Egress
    apps: Apps
    installed_apps: InstalledApps
    calls: CallLog
    conversations: Conversations
    services: ServicesDeps
    app_calls: AppCalls
    inbox: Inbox
    tasks: Tasks
    app_limiters: AppLimiters = field(default_factory=AppLimiters)
    mcp: McpDeps
    cors_origins: tuple[str, ...] = ()


def start() -> None:
    """Set up the log, and import what the first request certainly needs."""
    wiring.start("documents")


@cache
def deps() -> ToolProxyDeps:
    documents = wiring.documents()
    return ToolProxyDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        egress=wiring.egress(),
        apps=Apps(documents),
        installed_apps=InstalledApps(documents),
        calls=CallLog(documents),
        conversations=Conversations(documents),
        services=_services(),
        app_calls=AppCalls(documents),
        inbox=Inbox(documents),
        tasks=wiring.tasks(),
        mcp=_mcp(),
        cors_origins=wiring.settings().cors_origins,
    )


def _services() -> ServicesDeps:
    documents = wiring.documents()
    return ServicesDeps(
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        egress=wiring.egress(),
        connections=Connections(documents),
        grants=AccountTokenStore(documents, wiring.keys()),
        authorizations=Authorizations(documents),
        app_calls=AppCalls(documents),
        clients=wiring.settings().oauth_clients,
        redirect_uri=f"{wiring.settings().public_url}/v1/connections/callback",
        keys=wiring.keys(),
    )


def _mcp() -> McpDeps:
    documents, keys = wiring.documents(), wiring.keys()
    return McpDeps(
        grants=McpTokenStore(documents, keys),
        authorizations=McpAuthorizations(documents, keys),
        keys=keys,
        redirect_uri=f"{wiring.settings().public_url}/v1/apps/mcp/callback",
    )
