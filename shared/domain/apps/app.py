"""Third-party apps: what an app declares, and what its user allows it.

Also called: plugins, extensions, add-ons.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from shared.domain.apps.app_catalog import PROACTIVE_CAPABILITY
from shared.domain.ids import AppId, UserId
from shared.domain.provenance import Source
from shared.domain.value import value

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Permission = Literal[
    "create_conversation",
    "create_facts",
    "read_memories",
    "read_conversations",
    "read_tasks",
    "hear_conversations",
    "hear_live_words",
    "hear_live_sound",
    "write_notifications",
]
"""What an app may do with a user's library by itself."""
NAMED_PERMISSIONS: frozenset[Permission] = frozenset(
    {"hear_live_words", "hear_live_sound", "write_notifications"}
)
"""What concerns that which is being said: each is granted by its name alone."""
AppTrigger = Literal[
    "memory_creation", "conversation_updated", "transcript_processed", "audio_bytes"
]
"""What an app may hear of: a new conversation (in the old product's word), its later versions, live words and
live sound."""
_TRIGGER_PERMISSIONS: Mapping[AppTrigger, Permission] = {
    "memory_creation": "hear_conversations",
    "conversation_updated": "hear_conversations",
    "transcript_processed": "hear_live_words",
    "audio_bytes": "hear_live_sound",
}
CallKind = Literal["tool", "webhook", "mcp"]
INTEGRATION_CAPABILITY = "external_integration"
SUMMARY_CAPABILITY = "memories"
"""The wire's name for apps that write a summary of a conversation, by their `memory_prompt`."""
POPULAR_INSTALLS = 2
"""As many users make an app a popular one."""
GIVEN_ARGUMENTS = ("uid", "app_id", "tool_name")
"""Who calls an app over HTTP, and what."""
_PERMISSION_ALIASES = {"create_memories": "create_facts"}


@value
class ChatTool:
    """A tool an app serves. `endpoint` is absolute; `parameters` a JSON Schema of type object.

    `read_only` and `destructive` are the app's own declarations; `is_grave` is how we read what it says of itself. What is
    called over MCP is always a POST to the one address of its server.
    """

    name: str
    description: str
    endpoint: str
    method: Method = "POST"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    auth_required: bool = True
    status_message: str | None = None
    read_only: bool = False
    destructive: bool = False
    is_grave: bool = False
    transport: Literal["http", "mcp"] = "http"

    @property
    def given_arguments(self) -> tuple[str, ...]:
        """Name the arguments that each call has from us; a server of MCP is told no more than it asks for."""
        return GIVEN_ARGUMENTS if self.transport == "http" else ()


@value
class ExternalIntegration:
    """Where an app is reached and what it may do; names as on the wire.

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

    @property
    def triggers(self) -> frozenset[AppTrigger]:
        """Return what its webhook is called for; the wire's text may name several, with commas."""
        names = {name.strip() for name in (self.triggers_on or "").split(",")}
        return frozenset(trigger for trigger in get_args(AppTrigger) if trigger in names)

    @property
    def permissions(self) -> frozenset[Permission]:
        """Return the declared permissions: its actions, and what its webhook is called for."""
        action_names = {action.get("action", "") for action in self.actions}
        if self.webhook_url:
            action_names |= {_TRIGGER_PERMISSIONS[trigger] for trigger in self.triggers}
        permission_names = {_PERMISSION_ALIASES.get(name, name) for name in action_names}
        return frozenset(
            permission for permission in get_args(Permission) if permission in permission_names
        )


@value
class RetiredSecret:
    """The previous signing secret; until `until`, calls are signed with both."""

    secret: str
    until: datetime


@value
class Deactivation:
    """When an app was switched off, and why, in a sentence for its developer."""

    at: datetime
    reason: str


@value
class Rating:
    """The scores of all reviews of an app; `points` is their sum in hundredths."""

    count: int = 0
    points: int = 0

    @property
    def average(self) -> float:
        """From 0.0, also without a review, to 5.0."""
        return round(self.points / 100 / self.count, 2) if self.count else 0.0


@value
class App:
    """A registered app.

    `signing_secret` signs every call we make to it; it is stored wrapped. `user_key` is the secret from which
    the ids are made by which it knows its users; apps of before have none, and know their accounts.
    `checked_at` is when its manifest was last read without an error; failures before then do not
    count. `author` is the name of its developer. `chat_prompt` shapes its own chat, `memory_prompt` the
    summaries that it writes. `proactive_scopes` is what it would be told to write notifications.
    `local_origins` are servers on the machine of a local server that its developer allowed calls to.
    `logo` is the hash of its stored picture. `installs` is how many users have it installed.
    """

    id: AppId
    owner: UserId
    name: str
    created_at: datetime
    updated_at: datetime | None = None
    author: str = ""
    description: str = ""
    category: str = "other"
    capabilities: tuple[str, ...] = ()
    private: bool = True
    source_code_url: str | None = None
    logo: str = ""
    chat_prompt: str | None = None
    memory_prompt: str | None = None
    proactive_scopes: tuple[str, ...] = ()
    installs: int = 0
    rating: Rating = field(default_factory=Rating)
    external_integration: ExternalIntegration = field(default_factory=ExternalIntegration)
    local_origins: tuple[str, ...] = ()
    chat_tools: tuple[ChatTool, ...] = ()
    refused_tools: tuple[str, ...] = ()
    persona_prompt: str | None = None
    persona_model: Literal["persona", "persona_premium"] = "persona"
    signing_secret: str = ""
    user_key: str = ""
    retired_secret: RetiredSecret | None = None
    checked_at: datetime | None = None
    switched_off: Deactivation | None = None
    webhook_off: Deactivation | None = None

    def get_signing_secrets(self, now: datetime) -> tuple[str, ...]:
        """Return the secrets that sign a call, as they are stored, the current one first."""
        retired = self.retired_secret
        if retired is None or retired.until <= now:
            return (self.signing_secret,)
        return self.signing_secret, retired.secret

    @property
    def connects_accounts(self) -> bool:
        """Tell whether its users meet it on a page of its own, which their phone opens with `?uid=`."""
        integration = self.external_integration
        pages = integration.auth_steps, integration.setup_completed_url, integration.app_home_url
        return any(pages) or any(tool.auth_required for tool in self.chat_tools)

    @property
    def is_popular(self) -> bool:
        return self.installs >= POPULAR_INSTALLS

    @property
    def writes_summaries(self) -> bool:
        """Tell whether it writes summaries of conversations, by its template."""
        is_summary_app = SUMMARY_CAPABILITY in self.capabilities and self.switched_off is None
        return is_summary_app and bool(self.memory_prompt)

    @property
    def is_integration(self) -> bool:
        """Tell whether it may have a server: tools, a webhook, and keys to post with."""
        return INTEGRATION_CAPABILITY in self.capabilities

    @property
    def permissions(self) -> frozenset[Permission]:
        """Return what it asks for; one that hears live words may ask to have notifications written."""
        permissions = self.external_integration.permissions
        is_proactive = PROACTIVE_CAPABILITY in self.capabilities
        if is_proactive and "hear_live_words" in permissions:
            return permissions | {"write_notifications"}
        return permissions

    @property
    def source(self) -> Source:
        return Source(kind="app", id=self.id, name=self.name)

    @property
    def maker(self) -> str:
        """Name who learns what its tools are told: its developer, or the host of an MCP server."""
        server_url = self.external_integration.mcp_server_url
        return (
            f"server {urlsplit(server_url).hostname}" if server_url else f"developer {self.owner}"
        )

    def is_called_for(self, trigger: AppTrigger, uid: UserId, installation: "InstalledApp") -> bool:
        """Tell whether its webhook is called for this, of a user who installed it."""
        is_on = self.switched_off is None and self.webhook_off is None
        is_wanted = trigger in self.external_integration.triggers
        is_allowed = _TRIGGER_PERMISSIONS[trigger] in installation.get_permissions(self, uid)
        return is_on and is_wanted and is_allowed and self.is_visible_to(uid)

    def is_visible_to(self, uid: UserId) -> bool:
        """Tell whether this user may see, install and use the app."""
        return not self.private or self.owner == uid


@value
class AppLogo:
    """A picture of an app as it is served: WebP, at most 512 pixels wide and high."""

    hash: str
    content: bytes


@value
class AppReview:
    """A user's review of an app; `points` is its score in hundredths, 0 to 500.

    `id` stands for its author: nobody can tell from it whose account it is.
    """

    id: str
    points: int
    text: str
    username: str
    created_at: datetime
    updated_at: datetime | None = None
    response: str | None = None
    responded_at: datetime | None = None


@value
class ApiKey:
    """An app's key as stored: `hashed` is the SHA-256 of the part behind `sk_`."""

    id: str
    hashed: str
    label: str
    created_at: datetime


@value
class AppCall:
    """A call to an app, as its developer sees it: no content and no name.

    `failed`: the app gave no answer, or a status of 500 and more. `error` is the kind of failure.
    `user` identifies a user towards this app only.
    """

    id: str
    at: datetime
    kind: CallKind
    name: str
    ms: int
    user: str
    failed: bool = False
    error: str | None = None


@value
class ModelRefusal:
    """A model's refusal of a tool as its app declares it; `words` are those of the model's server."""

    id: str
    at: datetime
    tool: str
    model: str
    words: str


@value
class InstalledApp:
    """A user's consent to one app, and to what it asked for at that time.

    The app knows its user by `pairwise_id`, or by the account's id where that is empty.
    """

    app_id: AppId
    installed_at: datetime
    granted: frozenset[Permission] = frozenset()
    pairwise_id: str = ""

    @classmethod
    def of(cls, app: App, at: datetime, named: frozenset[str] | None = None) -> "InstalledApp":
        """Grant what the app asks for and is `named`; without names, all of it but what is live."""
        declared = app.permissions
        granted = declared - NAMED_PERMISSIONS if named is None else declared & named
        return cls(app_id=app.id, installed_at=at, granted=granted)

    def get_app_uid(self, uid: UserId) -> str:
        """Return the id by which the app knows its user."""
        return self.pairwise_id or uid

    def get_permissions(self, app: App, uid: UserId) -> frozenset[Permission]:
        """Return what the app may do for this user; its developer consents to all it asks for."""
        declared_permissions = app.permissions
        return declared_permissions if app.owner == uid else declared_permissions & self.granted
