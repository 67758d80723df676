"""Local egress: the way out for an MCP server that may run on this machine, with its owner's leave."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from functions.tool_proxy.oauth_deps import McpDeps
from shared.domain.apps.app import App
from shared.domain.value import value
from shared.ports import Egress, EgressRequest, EgressResponse


@value
class LocalEgress:
    """Egress that also reaches `local_origins`."""

    egress: Egress
    local_origins: Sequence[str]

    def check_url(self, url: str, *, local_origins: Collection[str] = ()) -> None:
        self.egress.check_url(url, local_origins=[*self.local_origins, *local_origins])

    async def send(self, request: EgressRequest) -> EgressResponse:
        return await self.egress.send(replace(request, local_origins=self.local_origins))


def allow_local(deps: McpDeps, app: App) -> McpDeps:
    """Return dependencies by which this app's own addresses on this machine are reached."""
    return replace(deps, egress=LocalEgress(egress=deps.egress, local_origins=app.local_origins))
