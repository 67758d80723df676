"""Wiring of the tool proxy: what its entry points need beside what all functions share."""

from functools import cache
from typing import TYPE_CHECKING

from functions.tool_proxy.app_limiter import AppLimiters
from shared import wiring
from shared.build_deps import DepsBuilder

if TYPE_CHECKING:
    from collections.abc import Callable

    from functions.tool_proxy.oauth_deps import McpDeps, ServicesDeps
    from functions.tool_proxy.ports import ManifestSource, Transport, TransportName
    from shared.data.apps.app_listings import AppListings


class _Parts:
    @staticmethod
    @cache
    def app_limiters() -> AppLimiters:
        return AppLimiters()

    @staticmethod
    def choose_transport() -> "Callable[[TransportName], Transport]":
        return _choose_transport

    @staticmethod
    def choose_manifest_source() -> "Callable[[TransportName], ManifestSource]":
        return _choose_manifest_source

    @staticmethod
    def services() -> "ServicesDeps":
        return _build_services()

    @staticmethod
    def mcp() -> "McpDeps":
        return _build_mcp()

    @staticmethod
    def listings() -> "AppListings":
        from shared.data.apps.app_listings import AppListings

        return AppListings(wiring.documents(), wiring.clock())


build_deps = DepsBuilder(_Parts)


def _build_services() -> "ServicesDeps":
    from functions.tool_proxy.oauth_deps import ServicesDeps
    from shared.data.apps.authorization_store import build_account_authorization_store
    from shared.data.apps.token_store import AccountTokenStore

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
    from shared.data.apps.authorization_store import build_mcp_authorization_store
    from shared.data.apps.token_store import build_mcp_token_store

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
def _choose_transport(name: "TransportName") -> "Transport":
    if name == "http":
        from functions.tool_proxy.calls.http_transport import HttpTransport

        return HttpTransport(
            egress=wiring.egress(), clock=wiring.clock(), signing_secrets=wiring.signing_secrets()
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
