"""Request and response bodies of apps."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints

from shared.domain.app import (
    INTEGRATION_CAPABILITY,
    App,
    ChatTool,
    Deactivation,
    ExternalIntegration,
    InstalledApp,
    Permission,
)
from shared.domain.ids import AppId, UserId
from shared.edge.schemas import ID_PATTERN, Wire
from shared.security.tool_class import ToolClass, classify_app_tool
from shared.security.tool_pin import compute_pin
from shared.security.visible_text import strip_invisible

Url = Annotated[str, Field(max_length=2_000)]
ShortLine = Annotated[
    str,
    AfterValidator(lambda text: " ".join(strip_invisible(text).split())),
    StringConstraints(min_length=1, max_length=100),
]
"""One line."""
Pairs = Annotated[list[dict[str, Url]], Field(max_length=20)]


class ExternalIntegrationIn(Wire):
    """The addresses of the app; its manifest, if it has one, decides about chat messages."""

    app_home_url: Url | None = None
    chat_tools_manifest_url: Url | None = None
    webhook_url: Url | None = None
    setup_completed_url: Url | None = None
    setup_instructions_file_path: Url | None = None
    triggers_on: ShortLine | None = None
    actions: Pairs = Field(default_factory=list)
    auth_steps: Pairs = Field(default_factory=list)
    chat_messages_enabled: bool = False
    chat_messages_target: Literal["main", "app"] = "app"
    chat_messages_notify: bool = False


class AppPatchIn(Wire):
    """Changes of an app; fields left out keep their value, and so does a name of null."""

    description: Annotated[str, AfterValidator(strip_invisible), Field(max_length=4_000)] = ""
    capabilities: list[ShortLine] = Field(default=[], max_length=20)
    external_integration: ExternalIntegrationIn = Field(default_factory=ExternalIntegrationIn)
    private: bool = False
    persona_prompt: str | None = Field(default=None, max_length=20_000)
    persona_model: Literal["persona", "persona_premium"] = "persona"
    name: ShortLine | None = None

    def apply_to(self, app: App) -> App:
        """Return the app with these changes."""
        changes = {**self.model_dump(exclude_unset=True), "name": self.name or app.name}
        integration = changes.pop("external_integration", {})
        merged_integration = replace(app.external_integration, **_to_tuples(integration))
        return replace(app, external_integration=merged_integration, **_to_tuples(changes))


class AppIn(AppPatchIn):
    """A new app. Other users may install it unless it is `private`.

    One that names no capabilities is an integration.
    """

    name: ShortLine

    def apply_to(self, app: App) -> App:
        described_app = super().apply_to(app)
        if "capabilities" in self.model_fields_set:
            return described_app
        return replace(described_app, capabilities=(INTEGRATION_CAPABILITY,))


def _to_tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}


class AppOut(Wire):
    """An app as its users see it.

    `permissions` are those that it asks for, `granted_permissions` those that the caller granted.
    """

    id: AppId
    name: str
    description: str
    capabilities: list[str]
    private: bool
    created_at: datetime
    enabled: bool
    permissions: list[Permission]
    granted_permissions: list[Permission]
    external_integration: ExternalIntegration
    chat_tools: list[str]
    switched_off: Deactivation | None
    webhook_off: Deactivation | None

    @classmethod
    def of(cls, app: App, uid: UserId, installation: InstalledApp | None = None) -> "AppOut":
        """Build the public fields: addresses that its users' clients open, and nothing secret in them.

        Of the webhook that is the origin. Clients ask `setup_completed_url` with a query of their own.
        """
        integration = app.external_integration
        public_integration = replace(
            integration,
            chat_tools_manifest_url=None,
            mcp_server_url=None,
            webhook_url=integration.webhook_url and _get_origin(integration.webhook_url),
            setup_completed_url=integration.setup_completed_url
            and integration.setup_completed_url.partition("?")[0],
        )
        public_app = replace(app, external_integration=public_integration)
        return cls(**_build_common_fields(public_app, uid, installation))


class OwnedAppOut(AppOut):
    """An app as its developer sees it."""

    refused_tools: list[str]
    signing_secret: str
    retired_secret_until: datetime | None
    checked_at: datetime | None
    persona_prompt: str | None

    @classmethod
    def of(cls, app: App, uid: UserId, installation: InstalledApp | None = None) -> "OwnedAppOut":
        return cls(
            **_build_common_fields(app, uid, installation),
            refused_tools=list(app.refused_tools),
            signing_secret=app.signing_secret,
            retired_secret_until=app.retired_secret.until if app.retired_secret else None,
            checked_at=app.checked_at,
            persona_prompt=app.persona_prompt,
        )


def _get_origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3]).partition("?")[0]


def _build_common_fields(
    app: App, uid: UserId, installation: InstalledApp | None
) -> dict[str, Any]:
    return {
        "id": app.id,
        "name": app.name,
        "description": app.description,
        "capabilities": list(app.capabilities),
        "private": app.private,
        "created_at": app.created_at,
        "enabled": installation is not None,
        "permissions": sorted(app.external_integration.permissions),
        "granted_permissions": sorted(
            installation.get_permissions(app, uid) if installation else ()
        ),
        "external_integration": app.external_integration,
        "chat_tools": [tool.name for tool in app.chat_tools],
        "switched_off": app.switched_off,
        "webhook_off": app.webhook_off,
    }


class ToolOut(Wire):
    """A tool as users see it before they install its app.

    `tool_class` says when they are asked about a call: of `read` tools hardly ever, of `write` tools
    until they say always, of `sensitive` tools each time.
    """

    name: str
    description: str
    tool_class: ToolClass
    pin: str

    @classmethod
    def of(cls, app: App, tool: ChatTool) -> "ToolOut":
        return cls(
            name=tool.name,
            description=tool.description,
            tool_class=classify_app_tool(tool),
            pin=compute_pin(app, tool),
        )


class CallOut(Wire):
    """A call to the app, for its developer; `user` is a pseudonym that only this app sees."""

    id: str
    at: datetime
    kind: Literal["tool", "webhook", "mcp"]
    name: str
    ms: int
    user: str
    failed: bool
    error: str | None


class ManifestRefreshOut(Wire):
    """The manifest was read."""

    status: Literal["ok"] = "ok"
    tools_count: int


class KeyOut(Wire):
    """A key without its secret."""

    id: str
    label: str
    created_at: datetime


class SecretOut(Wire):
    """The new signing secret; until `retired_secret_until` the previous one signs as well."""

    signing_secret: str
    retired_secret_until: datetime


class NewKeyOut(KeyOut):
    """A new key; its secret is shown only once."""

    secret: str


class CallsQuery(Wire):
    """The number of calls to list, newest first."""

    limit: int = Field(default=50, ge=1, le=100)


class AppQuery(Wire):
    """The app."""

    app_id: AppId = Field(pattern=ID_PATTERN)


class EnableQuery(AppQuery):
    """`permissions` are those that the caller was shown, comma-separated; without it, all of them."""

    permissions: str | None = Field(default=None, max_length=400)

    @property
    def shown_permissions(self) -> frozenset[str] | None:
        return None if self.permissions is None else frozenset(self.permissions.split(","))
