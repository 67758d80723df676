"""Wiring of the tool proxy: its dependencies, built once per instance."""

from functools import cache
from typing import TYPE_CHECKING

from functions.tool_proxy.deps import CallDeps, ToolProxyDeps
from shared import startup, wiring
from shared.outbound.app_limiter import AppLimiters

if TYPE_CHECKING:
    from functions.tool_proxy.oauth_deps import McpDeps, ServicesDeps
    from functions.tool_proxy.ports import ManifestSource, Transport, TransportName
    from shared.data.signing_secrets import SigningSecrets


def start(*stores: str) -> None:
    """Set up the log, and import what the first request needs: the documents, and these stores of them."""
    startup.start(adapters=("documents",), stores=stores)


@cache
def call_deps() -> CallDeps:
    return CallDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        delegations=wiring.delegations(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        egress=wiring.egress(),
        tasks=wiring.tasks(),
        stores=wiring.stores(),
        quotas=wiring.quotas(),
        choose_transport=_choose_transport,
        app_limiters=AppLimiters(),
    )


@cache
def deps() -> ToolProxyDeps:
    from shared.data.app_listings import AppListings

    calls = call_deps()
    return ToolProxyDeps(
        identity=calls.identity,
        service_identity=calls.service_identity,
        delegations=calls.delegations,
        clock=calls.clock,
        new_id=calls.new_id,
        egress=calls.egress,
        tasks=calls.tasks,
        stores=calls.stores,
        quotas=calls.quotas,
        choose_transport=calls.choose_transport,
        app_limiters=calls.app_limiters,
        services=_build_services(),
        mcp=_build_mcp(),
        choose_manifest_source=_choose_manifest_source,
        signing_secrets=_build_signing_secrets(),
        listings=AppListings(wiring.documents(), wiring.clock()),
        public_url=wiring.settings().public_url,
    )


def _build_services() -> "ServicesDeps":
    from functions.tool_proxy.oauth_deps import ServicesDeps
    from shared.data.authorization_store import build_account_authorization_store
    from shared.data.token_store import AccountTokenStore

    documents, keys = wiring.documents(), wiring.keys()
    return ServicesDeps(
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        egress=wiring.egress(),
        stores=wiring.stores(),
        quotas=wiring.quotas(),
        tokens=AccountTokenStore(documents, keys),
        authorizations=build_account_authorization_store(documents),
        clients=wiring.settings().oauth_clients,
        redirect_uri=f"{wiring.settings().public_url}/v1/connections/callback",
        keys=keys,
    )


@cache
def _build_mcp() -> "McpDeps":
    from functions.tool_proxy.oauth_deps import McpDeps
    from shared.data.authorization_store import build_mcp_authorization_store
    from shared.data.token_store import build_mcp_token_store

    documents, keys = wiring.documents(), wiring.keys()
    return McpDeps(
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        egress=wiring.egress(),
        tokens=build_mcp_token_store(documents, keys),
        authorizations=build_mcp_authorization_store(documents, keys),
        keys=keys,
        redirect_uri=f"{wiring.settings().public_url}/v1/apps/mcp/callback",
    )


@cache
def _build_signing_secrets() -> "SigningSecrets":
    from shared.data.signing_secrets import SigningSecrets

    return SigningSecrets(wiring.signing_keys())


@cache
def _choose_transport(name: "TransportName") -> "Transport":
    if name == "http":
        from functions.tool_proxy.calls.http_transport import HttpTransport

        return HttpTransport(
            egress=wiring.egress(), clock=wiring.clock(), signing_secrets=_build_signing_secrets()
        )
    from functions.tool_proxy.mcp_servers.mcp_transport import McpTransport

    return McpTransport(deps=_build_mcp())


@cache
def _choose_manifest_source(name: "TransportName") -> "ManifestSource":
    if name == "http":
        from functions.tool_proxy.registry.http_manifest_source import HttpManifestSource

        return HttpManifestSource(egress=wiring.egress())
    from functions.tool_proxy.mcp_servers.mcp_manifest_source import McpManifestSource

    return McpManifestSource(deps=_build_mcp())
