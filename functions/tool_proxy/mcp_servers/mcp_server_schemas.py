"""The HTTP contract of MCP servers as apps."""

from typing import Annotated

from pydantic import AfterValidator, Field

from functions.tool_proxy.registry.registration import Registration
from functions.tool_proxy.registry.schemas import ShortLine
from shared.domain.app import App, ExternalIntegration
from shared.domain.ids import AppId
from shared.edge.schemas import Wire
from shared.security.visible_text import strip_invisible


class McpAppIn(Wire):
    """An MCP server, reached over streamable HTTP, as an app of its owner's own."""

    name: ShortLine
    mcp_server_url: Annotated[str, Field(min_length=1, max_length=2_000)]
    description: Annotated[str, AfterValidator(strip_invisible), Field(max_length=4_000)] = ""

    def to_registration(self) -> Registration:
        return Registration(
            name=self.name,
            description=self.description,
            capabilities=("chat",),
            private=True,
            persona_prompt=None,
            persona_model="persona",
            external_integration=ExternalIntegration(mcp_server_url=self.mcp_server_url),
        )


class McpAppOut(Wire):
    """What an MCP server offers; with `requires_oauth`, nothing before its owner was at `auth_url`."""

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


class McpCallbackIn(Wire):
    """What an authorization server sends a user back with: a code, or an error; perhaps its name."""

    state: str = Field(max_length=2_000)
    code: str | None = Field(default=None, max_length=4_000)
    iss: str | None = Field(default=None, max_length=2_000)
