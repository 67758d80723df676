"""Request and response bodies of apps."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from shared.domain.apps.app import (
    INTEGRATION_CAPABILITY,
    App,
    ChatTool,
    ExternalIntegration,
    InstalledApp,
)
from shared.domain.apps.app_catalog import CATEGORIES, DEFAULT_CATEGORY, TRIGGERS
from shared.domain.errors import Invalid
from shared.domain.ids import AppId
from shared.edge.declare.app_schemas import AppOut, AppViewer
from shared.edge.declare.schemas import ID_PATTERN, Wire, clear_blank
from shared.security.tool_class import ToolClass, classify_app_tool
from shared.security.tool_pin import compute_pin
from shared.security.visible_text import strip_invisible, write_name

MAX_PROMPT_CHARS = 8_000
MAX_REVIEW_CHARS = 2_000
MAX_URL_CHARS = 2_000
_WEB_ADDRESS = re.compile(r"https?://[^\s/?#@\\]+([/?#]\S*)?", re.IGNORECASE)


def _require_web_address(url: str) -> str:
    """Return an address of a page or a server. All users would read a password in it."""
    address = url.strip()
    if address and not _WEB_ADDRESS.fullmatch(address):
        raise ValueError("must be an https:// address without a user name in it")
    return address


def _require_triggers(text: str) -> str:
    """Return the names of known triggers; for another one, nothing would ever be sent."""
    if not {name.strip() for name in text.split(",")} <= TRIGGERS:
        known = ", ".join(f"“{name}”" for name in sorted(TRIGGERS))
        raise ValueError(f"must be one of {known}, or several with commas")
    return text


Url = Annotated[str, Field(max_length=MAX_URL_CHARS), AfterValidator(_require_web_address)]
OptionalUrl = Annotated[Url | None, BeforeValidator(clear_blank)]
ShortLine = Annotated[
    str,
    AfterValidator(write_name),
    StringConstraints(min_length=1, max_length=100),
]
"""One line."""
Text = Annotated[str, AfterValidator(strip_invisible)]
PromptText = Annotated[
    Annotated[Text, Field(max_length=MAX_PROMPT_CHARS)] | None, BeforeValidator(clear_blank)
]
Category = Annotated[ShortLine | None, BeforeValidator(clear_blank)]


class ActionIn(Wire):
    """Something that the app may do with its users' libraries."""

    action: ShortLine


class AuthStepIn(Wire):
    """A page on which the app's users sign in with it."""

    name: Annotated[Text, Field(max_length=200)] = ""
    url: Url = ""


class ProactiveNotificationIn(Wire):
    """What the app asks to be told for notifications that it would have written."""

    scopes: list[ShortLine] = Field(default=[], max_length=20)


class ExternalIntegrationIn(Wire):
    """The addresses of the app; its manifest, if it has one, decides about chat messages."""

    app_home_url: OptionalUrl = None
    chat_tools_manifest_url: OptionalUrl = None
    webhook_url: OptionalUrl = None
    setup_completed_url: OptionalUrl = None
    setup_instructions_file_path: Annotated[
        Annotated[str, Field(max_length=MAX_URL_CHARS)] | None, BeforeValidator(clear_blank)
    ] = None
    triggers_on: Annotated[
        Annotated[ShortLine, AfterValidator(_require_triggers)] | None, BeforeValidator(clear_blank)
    ] = None
    actions: list[ActionIn] = Field(default=[], max_length=20)
    auth_steps: list[AuthStepIn] = Field(default=[], max_length=20)
    chat_messages_enabled: bool = False
    chat_messages_target: Literal["main", "app"] = "app"
    chat_messages_notify: bool = False


class AppPatchIn(Wire):
    """Changes of an app; fields left out keep their value, and so does a name of null.

    An `external_integration` of null removes the app's server. `allow_local` lets its addresses be on
    this machine, where Keepsake serves this machine alone.
    """

    description: Annotated[Text, Field(max_length=4_000)] = ""
    category: Category = None
    capabilities: list[ShortLine] = Field(default=[], max_length=20)
    external_integration: ExternalIntegrationIn | None = None
    proactive_notification: ProactiveNotificationIn | None = None
    private: bool = False
    source_code_url: OptionalUrl = None
    chat_prompt: PromptText = None
    memory_prompt: PromptText = None
    persona_prompt: str | None = Field(default=None, max_length=20_000)
    persona_model: Literal["persona", "persona_premium"] = "persona"
    name: ShortLine | None = None
    is_paid: bool | None = None
    allow_local: bool = False

    def apply_to(self, app: App) -> App:
        """Return the app with these changes. Raises Invalid for an unknown category, or a price."""
        if self.is_paid:
            raise Invalid("Apps cannot be sold here; make it free")
        changes = self.model_dump(
            exclude_unset=True,
            exclude={"external_integration", "proactive_notification", "is_paid", "allow_local"},
        )
        if "category" in changes:
            changes["category"] = _require_category(self.category)
        if "proactive_notification" in self.model_fields_set:
            changes["proactive_scopes"] = _get_scopes(self.proactive_notification)
        if "external_integration" in self.model_fields_set:
            changes["external_integration"] = self._merge_integration(app.external_integration)
        return replace(app, **_to_tuples({**changes, "name": self.name or app.name}))

    def _merge_integration(self, stored: ExternalIntegration) -> ExternalIntegration:
        if self.external_integration is None:
            return ExternalIntegration()
        changes = self.external_integration.model_dump(exclude_unset=True)
        return replace(stored, **_to_tuples(changes))


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


def _require_category(category: str | None) -> str:
    """Return the category, or the one of apps without one. Raises Invalid."""
    if category is not None and category not in CATEGORIES:
        raise Invalid("There is no such category; /v1/app-categories lists them all")
    return category or DEFAULT_CATEGORY


def _get_scopes(notification: ProactiveNotificationIn | None) -> tuple[str, ...]:
    return tuple(notification.scopes) if notification else ()


def _to_tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}


class OwnedAppOut(AppOut):
    """An app as its developer manages it. `app_id` is its id as released clients read it."""

    app_id: AppId
    refused_tools: list[str]
    signing_secret: str
    retired_secret_until: datetime | None
    checked_at: datetime | None
    persona_prompt: str | None

    @classmethod
    def build_fields(
        cls, app: App, viewer: AppViewer, installation: InstalledApp | None
    ) -> dict[str, Any]:
        return {
            **super().build_fields(app, viewer, installation),
            "app_id": app.id,
            "refused_tools": list(app.refused_tools),
            "signing_secret": app.signing_secret,
            "retired_secret_until": app.retired_secret.until if app.retired_secret else None,
            "checked_at": app.checked_at,
            "persona_prompt": app.persona_prompt,
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


class LiveListenerOut(Wire):
    """What an app, or the user's own server, was sent while it was said."""

    app_id: AppId
    last_at: datetime
    lines: int
    sound_s: int


class ModelRefusalOut(Wire):
    """A tool that is left out for a model; `words` are those of the model's server, as text."""

    at: datetime
    tool: str
    model: str
    words: str


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
    """The number of entries to list, newest first."""

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


class VisibilityQuery(Wire):
    """Whether only its owner sees the app."""

    private: bool


class ReviewIn(Wire):
    """A review, with a score from 0 to 5. The author's name comes from their profile."""

    score: float = Field(ge=0, le=5)
    review: Annotated[Text, Field(max_length=MAX_REVIEW_CHARS)] = ""

    @property
    def points(self) -> int:
        return round(self.score * 100)


class ReviewResponseIn(Wire):
    """A developer's answer to the review that `reviewer_uid` wrote, as reviews name its author."""

    reviewer_uid: str = Field(pattern=ID_PATTERN)
    response: Annotated[Text, Field(max_length=MAX_REVIEW_CHARS)]
