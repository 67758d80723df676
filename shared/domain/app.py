"""A third-party app: what it declared, and what its user allowed."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Literal

from shared.domain.ids import AppId, UserId
from shared.domain.value import value

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@value
class ChatTool:
    """A tool an app serves. `endpoint` is absolute; `parameters` a JSON Schema of type object.

    `read_only` is the app's own declaration and counts only together with GET; what is called over
    MCP is always a POST to the one address of its server.
    """

    name: str
    description: str
    endpoint: str
    method: Method = "POST"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    auth_required: bool = True
    status_message: str | None = None
    read_only: bool = False
    transport: Literal["http", "mcp"] = "http"


@value
class ExternalIntegration:
    """Where an app is reached and what it may do; names as on the wire (reference: Omi's model).

    An app with an `mcp_server_url` is an MCP server: its tools are what that server lists.
    """

    app_home_url: str | None = None
    chat_tools_manifest_url: str | None = None
    mcp_server_url: str | None = None
    webhook_url: str | None = None
    setup_completed_url: str | None = None
    setup_instructions_file_path: str | None = None
    triggers_on: str | None = None
    actions: tuple[Mapping[str, str], ...] = ()
    auth_steps: tuple[Mapping[str, str], ...] = ()
    chat_messages_enabled: bool = False
    chat_messages_target: Literal["main", "app"] = "app"
    chat_messages_notify: bool = False


@value
class App:
    """A registered app. `signing_secret` (`whsec_…`) signs every call we make to it."""

    id: AppId
    owner: UserId
    name: str
    created_at: datetime
    description: str = ""
    capabilities: tuple[str, ...] = ()
    private: bool = True
    external_integration: ExternalIntegration = field(default_factory=ExternalIntegration)
    chat_tools: tuple[ChatTool, ...] = ()
    refused_tools: tuple[str, ...] = ()
    persona_prompt: str | None = None
    persona_model: Literal["persona", "persona_premium"] = "persona"
    signing_secret: str = ""

    def is_visible_to(self, uid: UserId) -> bool:
        """Tell whether this user may see, install and use the app."""
        return not self.private or self.owner == uid


@value
class ApiKey:
    """An app's key as stored: `hashed` is the SHA-256 of the part behind `sk_`."""

    id: str
    hashed: str
    label: str
    created_at: datetime


@value
class InstalledApp:
    """A user's consent to one app."""

    app_id: AppId
    installed_at: datetime
