"""Apps in answers: an app as its users and its developer read it, field by field as released clients do."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal, Self

from pydantic import Field

from shared.domain.apps.app import App, AppReview, ChatTool, Deactivation, InstalledApp, Permission
from shared.domain.apps.app_catalog import PROACTIVE_CAPABILITY
from shared.domain.ids import AppId, UserId
from shared.domain.value import value
from shared.edge.declare.schemas import Wire

DEFAULT_LOGO = "default.webp"


@value
class AppViewer:
    """Who reads an app: `public_url` is the origin from which their client loads pictures."""

    uid: UserId
    public_url: str


class AuthStepOut(Wire):
    """A page that the app's users open to sign in with it."""

    name: str
    url: str


class ActionOut(Wire):
    """Something that the app may do with its users' libraries."""

    action: str


class ExternalIntegrationOut(Wire):
    """The addresses of an app's server, and what they are called for.

    With `is_instructions_url`, the set-up instructions are a page, not a Markdown text.
    """

    triggers_on: str | None
    webhook_url: str | None
    setup_completed_url: str | None
    setup_instructions_file_path: str | None
    is_instructions_url: bool
    app_home_url: str | None
    chat_tools_manifest_url: str | None
    mcp_server_url: str | None
    auth_steps: list[AuthStepOut]
    actions: list[ActionOut]
    chat_messages_enabled: bool
    chat_messages_target: Literal["main", "app"]
    chat_messages_notify: bool


class ChatToolOut(Wire):
    """A tool of an app; only its developer reads the endpoint."""

    name: str
    description: str
    endpoint: str
    method: str
    auth_required: bool
    status_message: str | None
    is_mcp: bool


class ProactiveNotificationOut(Wire):
    """What the app would be told to write notifications."""

    scopes: list[str]


class ReviewOut(Wire):
    """A review. `uid` stands for its author, and is their own id only to themselves."""

    uid: str
    score: float
    review: str
    username: str
    rated_at: datetime
    updated_at: datetime | None
    response: str | None
    responded_at: datetime | None

    @classmethod
    def of(cls, review: AppReview, *, author_id: str | None = None) -> "ReviewOut":
        return cls(
            uid=author_id or review.id,
            score=review.points / 100,
            review=review.text,
            username=review.username,
            rated_at=review.created_at,
            updated_at=review.updated_at,
            response=review.response,
            responded_at=review.responded_at,
        )


class AppOut(Wire):
    """An app as its users see it; its developer sees all its addresses and its prompts too.

    `permissions` are those that it asks for, `granted_permissions` those that the caller granted.
    Nothing is sold here, so what concerns money is always empty.
    """

    id: AppId
    name: str
    author: str
    description: str
    image: str
    uid: str | None
    category: str
    capabilities: list[str]
    approved: bool = True
    status: Literal["approved"] = "approved"
    private: bool
    enabled: bool
    deleted: bool = False
    created_at: datetime
    updated_at: datetime | None
    source_code_url: str | None
    chat_prompt: str | None
    memory_prompt: str | None
    external_integration: ExternalIntegrationOut
    proactive_notification: ProactiveNotificationOut | None
    chat_tools: list[ChatToolOut]
    installs: int
    is_popular: bool
    rating_avg: float
    rating_count: int
    reviews: list[ReviewOut]
    user_review: ReviewOut | None
    permissions: list[Permission]
    granted_permissions: list[Permission]
    switched_off: Deactivation | None
    webhook_off: Deactivation | None
    email: str | None = None
    username: str | None = None
    official: bool = False
    usage_count: int = 0
    money_made: float = 0.0
    price: float = 0.0
    is_paid: bool = False
    is_user_paid: bool = False
    payment_plan: str | None = None
    payment_link: str | None = None
    thumbnails: list[str] = Field(default=[])
    thumbnail_urls: list[str] = Field(default=[])

    @classmethod
    def of(
        cls,
        app: App,
        viewer: AppViewer,
        installation: InstalledApp | None = None,
        *,
        reviews: Sequence[AppReview] = (),
        own_review: AppReview | None = None,
    ) -> Self:
        """Build the fields that this user may read; `reviews` are those of everybody."""
        return cls(
            **cls.build_fields(app, viewer, installation),
            reviews=[ReviewOut.of(review) for review in reviews],
            user_review=ReviewOut.of(own_review, author_id=viewer.uid) if own_review else None,
        )

    @classmethod
    def build_fields(
        cls, app: App, viewer: AppViewer, installation: InstalledApp | None
    ) -> dict[str, Any]:
        is_owner = app.owner == viewer.uid
        shown_app = app if is_owner else _hide_private_fields(app)
        return {
            **{name: getattr(shown_app, name) for name in _PLAIN_FIELDS},
            "image": build_logo_url(app, viewer.public_url),
            "uid": app.owner if is_owner else None,
            "capabilities": list(app.capabilities),
            "enabled": installation is not None,
            "external_integration": _build_integration(shown_app),
            "proactive_notification": _build_proactive_notification(app),
            "chat_tools": [_build_tool(tool) for tool in shown_app.chat_tools],
            "rating_avg": app.rating.average,
            "rating_count": app.rating.count,
            "permissions": sorted(app.permissions),
            "granted_permissions": sorted(
                installation.get_permissions(app, viewer.uid) if installation else ()
            ),
        }


_PLAIN_FIELDS = (
    "id",
    "name",
    "author",
    "description",
    "category",
    "private",
    "created_at",
    "updated_at",
    "source_code_url",
    "chat_prompt",
    "memory_prompt",
    "installs",
    "is_popular",
    "switched_off",
    "webhook_off",
)


def build_logo_url(app: App, public_url: str) -> str:
    """Return the address of an app's picture; it changes with the picture."""
    name = f"{app.id}-{app.logo}.webp" if app.logo else DEFAULT_LOGO
    return f"{public_url}/v1/apps/logos/{name}"


def _hide_private_fields(app: App) -> App:
    """Keep the addresses that users' clients open, and nothing secret in them; of a webhook its origin.

    Clients ask `setup_completed_url` with a query of their own.
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
    return replace(
        app,
        chat_prompt=None,
        memory_prompt=None,
        external_integration=public_integration,
        chat_tools=tuple(replace(tool, endpoint="") for tool in app.chat_tools),
    )


def _get_origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3]).partition("?")[0]


def _build_integration(app: App) -> ExternalIntegrationOut:
    integration = app.external_integration
    path = integration.setup_instructions_file_path or ""
    is_markdown = path.partition("?")[0].endswith(".md")
    return ExternalIntegrationOut(
        triggers_on=integration.triggers_on,
        webhook_url=integration.webhook_url,
        setup_completed_url=integration.setup_completed_url,
        setup_instructions_file_path=integration.setup_instructions_file_path,
        is_instructions_url=path.startswith("http") and not is_markdown,
        app_home_url=integration.app_home_url,
        chat_tools_manifest_url=integration.chat_tools_manifest_url,
        mcp_server_url=integration.mcp_server_url,
        auth_steps=[AuthStepOut(**_take(step, "name", "url")) for step in integration.auth_steps],
        actions=[
            ActionOut(action=declared["action"])
            for declared in integration.actions
            if declared.get("action")
        ],
        chat_messages_enabled=integration.chat_messages_enabled,
        chat_messages_target=integration.chat_messages_target,
        chat_messages_notify=integration.chat_messages_notify,
    )


def _take(declaration: Mapping[str, str], *names: str) -> dict[str, str]:
    return {name: declaration.get(name, "") for name in names}


def _build_proactive_notification(app: App) -> ProactiveNotificationOut | None:
    if PROACTIVE_CAPABILITY not in app.capabilities:
        return None
    return ProactiveNotificationOut(scopes=list(app.proactive_scopes))


def _build_tool(tool: ChatTool) -> ChatToolOut:
    return ChatToolOut(
        name=tool.name,
        description=tool.description,
        endpoint=tool.endpoint,
        method=tool.method,
        auth_required=tool.auth_required,
        status_message=tool.status_message,
        is_mcp=tool.transport == "mcp",
    )
