"""Dependencies of connected accounts and of MCP servers, in tests."""

from collections.abc import Mapping

from functions.tool_proxy.deps import McpDeps, ServicesDeps
from shared.adapters.embedded.local_keys import LocalKeys
from shared.adapters.guarded_egress import GuardedEgress
from shared.data.authorization_store import (
    build_account_authorization_store,
    build_mcp_authorization_store,
)
from shared.data.stores import Stores
from shared.data.token_store import AccountTokenStore, build_mcp_token_store
from shared.domain.connection import OauthClient
from shared.ports import Clock, Documents, Egress, NewId
from tests.fakes import CountingIds, FixedClock

KEYS = LocalKeys(b"k" * 32)
REDIRECT_URI = "https://keepsake.example.com/v1/connections/callback"


def build_mcp_deps(documents: Documents, *, clock: Clock, new_id: NewId, egress: Egress) -> McpDeps:
    return McpDeps(
        clock=clock,
        new_id=new_id,
        egress=egress,
        tokens=build_mcp_token_store(documents, KEYS),
        authorizations=build_mcp_authorization_store(documents, KEYS),
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
        tokens=AccountTokenStore(documents, KEYS),
        authorizations=build_account_authorization_store(documents),
        clients=clients or {},
        redirect_uri=REDIRECT_URI,
        keys=KEYS,
    )
