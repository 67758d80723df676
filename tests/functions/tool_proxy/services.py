"""What connected accounts and MCP servers ask of the world, in tests."""

from collections.abc import Mapping

from functions.tool_proxy.deps import McpDeps, ServicesDeps
from shared.adapters.embedded.local_keys import LocalKeys
from shared.adapters.guarded_egress import GuardedEgress
from shared.data.grants import AccountTokenStore, Authorizations
from shared.data.mcp_grants import McpAuthorizations, McpTokenStore
from shared.data.stores import Stores
from shared.domain.connection import OauthClient
from shared.ports import Clock, Documents, Egress, NewId
from tests.fakes import CountingIds, FixedClock

KEYS = LocalKeys(b"k" * 32)
REDIRECT_URI = "https://keepsake.example.com/v1/connections/callback"


def build_mcp_deps(documents: Documents) -> McpDeps:
    return McpDeps(
        grants=McpTokenStore(documents, KEYS),
        authorizations=McpAuthorizations(documents, KEYS),
        keys=KEYS,
        redirect_uri="https://keepsake.example.com/v1/apps/mcp/callback",
    )


def build_services_deps(
    documents: Documents,
    *,
    clients: Mapping[str, OauthClient] | None = None,
    clock: Clock | None = None,
    egress: Egress | None = None,
    new_id: NewId | None = None,
) -> ServicesDeps:
    return ServicesDeps(
        clock=clock or FixedClock(),
        new_id=new_id or CountingIds("service"),
        egress=egress or GuardedEgress(),
        stores=Stores(documents),
        grants=AccountTokenStore(documents, KEYS),
        authorizations=Authorizations(documents),
        clients=clients or {},
        redirect_uri=REDIRECT_URI,
        keys=KEYS,
    )
