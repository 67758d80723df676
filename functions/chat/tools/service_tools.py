"""Service tools: the tools of the services that the owner connected, and of the web."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from functions.chat.deps import ChatDeps
from functions.chat.tools.toolkit import DataResult, ResultRenderer, Tool
from shared.arguments import build_tool_spec, parse_arguments
from shared.domain.apps.connection import Connection, Service
from shared.domain.chats.consent import Consent, Grant
from shared.domain.ids import UserId
from shared.domain.provenance import Source
from shared.integrations import INTEGRATIONS, load_integration
from shared.integrations.service import Integration, ServiceTool
from shared.ports import ToolBox


def build_service_tools(
    deps: ChatDeps, uid: UserId, connections: Sequence[Connection], consent: Consent
) -> Iterator[Tool]:
    """Yield the tools in the order of the services, which keeps the provider's prompt cache warm.

    Those that the owner switched off are left out.
    """
    names: set[Service] = {connection.id for connection in connections}
    if deps.web_search:
        names |= {"perplexity", "web"}
    for name in INTEGRATIONS:
        if name in names:
            service = load_integration(name)
            for tool in service.tools:
                grant = consent.find_grant(get_service_source(service), tool.name)
                if grant is None or grant.state != "off":
                    yield _build_tool(deps.toolbox, uid, service, tool, grant)


def get_service_source(service: Integration) -> Source:
    return Source(kind="service", id=service.service, name=service.label)


def _build_tool(
    toolbox: ToolBox, uid: UserId, service: Integration, tool: ServiceTool, grant: Grant | None
) -> Tool:
    """Build a tool; its version is part of our release, which is what the owner trusts."""

    async def run(arguments: Mapping[str, Any], call_id: str) -> ResultRenderer:
        return DataResult(
            data=await toolbox.call_service(
                uid, service.service, tool.name, arguments, call_id=call_id
            )
        )

    async def check(arguments: Mapping[str, Any]) -> None:
        parse_arguments(tool.name, tool.arguments_type, arguments)

    return Tool(
        spec=build_tool_spec(tool.name, tool.arguments_type),
        status=tool.status,
        run=run,
        source=get_service_source(service),
        tool_class=tool.tool_class,
        sensitive_arguments=tool.sensitive_arguments,
        is_grantable=tool.is_grantable,
        check=check,
        maker=f"service {service.service}",
        maker_tools=len(service.tools),
        always_allowed=tool.is_grantable and grant is not None and grant.state == "always",
    )
