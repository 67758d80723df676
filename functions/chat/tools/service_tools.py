"""Service tools: the tools of the services that the owner connected, and web search."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from functions.chat.deps import ChatDeps
from functions.chat.tools.toolkit import ResultRenderer, Tool, render_fixed
from shared.arguments import build_tool_spec
from shared.domain.connection import Connection, Service
from shared.domain.ids import UserId
from shared.domain.provenance import Source
from shared.integrations import INTEGRATIONS, load_integration
from shared.integrations.service import Integration, ServiceTool
from shared.ports import ToolBox


def build_service_tools(
    deps: ChatDeps, uid: UserId, connections: Sequence[Connection]
) -> Iterator[Tool]:
    """Yield the tools in the order of the services, which keeps the provider's prompt cache warm."""
    names: set[Service] = {connection.id for connection in connections}
    if deps.web_search:
        names.add("perplexity")
    for name in INTEGRATIONS:
        if name in names:
            service = load_integration(name)
            yield from (_build_tool(deps.toolbox, uid, service, tool) for tool in service.tools)


def _build_tool(toolbox: ToolBox, uid: UserId, service: Integration, tool: ServiceTool) -> Tool:
    async def run(arguments: Mapping[str, Any], call_id: str) -> ResultRenderer:
        return render_fixed(
            await toolbox.call_service(uid, service.service, tool.name, arguments, call_id=call_id)
        )

    return Tool(
        spec=build_tool_spec(tool.name, tool.arguments_type),
        status=tool.status,
        run=run,
        source=Source(kind="service", id=service.service, name=service.label),
        side_effect=tool.side_effect,
    )
