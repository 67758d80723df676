"""Request and response bodies of MCP servers."""

from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator, Field

from functions.tool_proxy.accounts.connection_schemas import CallbackIn
from functions.tool_proxy.registry.schemas import ShortLine
from shared.domain.apps.app import INTEGRATION_CAPABILITY, App, ExternalIntegration
from shared.domain.ids import AppId
from shared.edge.declare.schemas import Wire
from shared.security.visible_text import strip_invisible


class McpAppIn(Wire):
    """An MCP server, reached over streamable HTTP, as a private app of the caller.

    `allow_local` lets it be a server on this machine, where Keepsake serves this machine alone.
    """

    name: ShortLine
    mcp_server_url: Annotated[str, Field(min_length=1, max_length=2_000)]
    description: Annotated[str, AfterValidator(strip_invisible), Field(max_length=4_000)] = ""
    allow_local: bool = False

    def apply_to(self, app: App) -> App:
        """Return the app with this description."""
        return replace(
            app,
            name=self.name,
            description=self.description,
            capabilities=("chat", INTEGRATION_CAPABILITY),
            private=True,
            external_integration=ExternalIntegration(mcp_server_url=self.mcp_server_url),
        )


class McpAppOut(Wire):
    """The tools of an MCP server; with `requires_oauth`, none before the user opened `auth_url`."""

    app_id: AppId
    requires_oauth: bool
    auth_url: str | None
    tools_count: int
    tool_names: list[str]
    refused_tools: list[str]

    @classmethod
    def of(cls, app: App, *, auth_url: str | None = None) -> "McpAppOut":
        return cls(
            app_id=app.id,
            requires_oauth=auth_url is not None,
            auth_url=auth_url,
            tools_count=len(app.chat_tools),
            tool_names=[tool.name for tool in app.chat_tools],
            refused_tools=list(app.refused_tools),
        )


class McpCallbackIn(CallbackIn):
    """The parameters of an OAuth callback: a code, or none after an error; the issuer if known."""

    iss: str | None = Field(default=None, max_length=2_000)
