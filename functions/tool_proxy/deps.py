"""Dependencies of the tool proxy: the ports and stores that its stories use."""

# Annotations are not evaluated: a process imports what it uses of these, with the first request that does.
from __future__ import annotations

from typing import TYPE_CHECKING

from shared.domain.value import value

if TYPE_CHECKING:
    from collections.abc import Callable

    from functions.tool_proxy.app_limiter import AppLimiters
    from functions.tool_proxy.oauth_deps import McpDeps, ServicesDeps
    from functions.tool_proxy.ports import ManifestSource, Transport, TransportName
    from shared.data.account.quotas import Quotas
    from shared.data.apps.app_listings import AppListings
    from shared.data.apps.signing_secrets import SigningSecrets
    from shared.data.search.question_meaning import QuestionMeanings
    from shared.data.stores import Stores
    from shared.ports import Clock, Egress, Identity, Models, NewId, ServiceIdentity, Tasks
    from shared.security.delegations import Delegations


@value
class CallDeps:
    """What a call of an app's tool needs."""

    identity: Identity
    service_identity: ServiceIdentity
    delegations: Delegations
    clock: Clock
    new_id: NewId
    egress: Egress
    tasks: Tasks
    stores: Stores
    quotas: Quotas
    choose_transport: Callable[[TransportName], Transport]
    app_limiters: AppLimiters


@value
class ToolProxyDeps(CallDeps):
    """What connected services, the registration of apps and their webhooks need, too.

    Clients load the pictures of apps from `public_url`.
    """

    services: ServicesDeps
    mcp: McpDeps
    choose_manifest_source: Callable[[TransportName], ManifestSource]
    signing_secrets: SigningSecrets
    listings: AppListings
    public_url: str


@value
class RegistryDeps(ToolProxyDeps):
    """What naming an app and reading its tools needs, too."""

    meanings: QuestionMeanings


@value
class DeliveryDeps(ToolProxyDeps):
    """What telling an app of something needs, and writing what it answers with."""

    model: Models
