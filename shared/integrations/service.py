"""Service definition: the tools of a third-party service, and how its accounts are connected.

Tools return text, or data: at most MAX_TEXT_CHARS characters of it, without invisible ones.
"""

from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from itertools import accumulate
from typing import Annotated, Any, Literal, Protocol, TypeVar
from urllib.parse import quote, urlencode
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationInfo
from pydantic_core import to_json

from shared.arguments import Arguments
from shared.domain.apps.connection import OauthClient, Service, Tokens
from shared.domain.apps.tool_data import EmbedType, ToolData, to_compact_json
from shared.domain.errors import KeepsakeError
from shared.domain.value import positional_value, value
from shared.domain.wall_clock import localize
from shared.ports import EgressRequest, EgressResponse
from shared.security.tool_class import ToolClass
from shared.security.visible_text import strip_invisible

MAX_TEXT_CHARS = 20_000
"""The limit of a tool's result; the text says how many entries are left out."""
_MAX_LINE_CHARS = 300


class ServiceResponse(BaseModel):
    """The fields that we read of a response; unknown fields are ignored."""

    model_config = ConfigDict(defer_build=True, extra="ignore")


def localize_field(text: str, info: ValidationInfo[ZoneInfo]) -> str:
    """Write a time by the owner's clock, whose zone is the validation's context."""
    return localize(text, info.context)


OwnerTime = Annotated[str, AfterValidator(localize_field)]
"""A time of the service's, as the owner's clock shows it; what is no time stays as it is."""
ServiceResponseT = TypeVar("ServiceResponseT", bound=ServiceResponse)
QueryParams = dict[str, str | int]


class ServiceItemNotFound(KeepsakeError):
    """The service has no such item."""


class ServiceItemExists(KeepsakeError):
    """The service already has an item under this id."""


@value
class ServiceRequest:
    """An HTTP request to a service: an absolute `url`, and a `body` sent as JSON."""

    url: str
    method: Literal["GET", "POST", "PATCH", "DELETE"] = "GET"
    query: QueryParams = field(default_factory=dict)
    body: Mapping[str, Any] | None = None


class Account(Protocol):
    """A connected account, as one tool call uses it."""

    @property
    def now(self) -> datetime: ...

    @property
    def call_id(self) -> str:
        """The id of the call, the same for each repeat of it."""

    async def send(
        self, request: ServiceRequest, response_type: type[ServiceResponseT]
    ) -> ServiceResponseT:
        """Raises ToolFailed, ServiceItemNotFound, ServiceItemExists."""

    async def fetch(self, url: str, *, accepts: Sequence[str], max_bytes: int) -> EgressResponse:
        """Get an address that others chose, with no token; a redirect is returned, not followed.

        Raises ToolFailed with the reason.
        """


@positional_value
class ServiceTool:
    """A tool of a service. `run` takes validated arguments and returns text for the model, or data.

    `status` is shown while it runs. A call that gives one of `sensitive_arguments` is sensitive
    whatever `tool_class` says: it reaches other people. One that is not `is_grantable` is never allowed
    for always, because nobody knows in advance whom its calls reach.
    """

    name: str
    status: str
    arguments_type: type[Arguments]
    run: Callable[[Account, Any], Awaitable[str | ToolData]]
    tool_class: ToolClass = "read"
    sensitive_arguments: tuple[str, ...] = ()
    is_grantable: bool = True


@value
class OAuthProvider:
    """An OAuth 2 provider; `name` is the prefix of its settings, such as GOOGLE_CLIENT_ID.

    Token requests carry the client's credentials in the body or the Authorization header
    (`client_in`) and are sent as `body_format`. `authorize_params` are added to the authorization
    URL, `refresh_params` to a token refresh.
    """

    name: str
    authorize_url: str
    token_url: str
    build_revocation: Callable[[OauthClient, Tokens], EgressRequest]
    client_in: Literal["body", "header"] = "body"
    body_format: Literal["form", "json"] = "form"
    authorize_params: Mapping[str, str] = field(default_factory=dict)
    refresh_params: Mapping[str, str] = field(default_factory=dict)


@value
class ConnectionSpec:
    """The access that a user is asked for when connecting an account.

    `scopes` must be granted; `extra_scopes` are requested but not checked. `account_url` returns
    the account's name at the dotted path `account_name_path`.
    """

    provider: OAuthProvider
    scopes: tuple[str, ...]
    account_url: str
    account_name_path: str
    extra_scopes: tuple[str, ...] = ()


@value
class Integration:
    """A third-party service and its tools; without `connection` we call it with our own API key."""

    service: Service
    label: str
    tools: tuple[ServiceTool, ...]
    connection: ConnectionSpec | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def build_basic_auth(client: OauthClient) -> str:
    """Return the client's credentials for HTTP Basic, encoded as in RFC 6749, section 2.3.1."""
    pair = f"{quote(client.id, safe='')}:{quote(client.secret, safe='')}"
    return f"Basic {b64encode(pair.encode()).decode()}"


def build_form_revocation(url: str, tokens: Tokens, **headers: str) -> EgressRequest:
    """Revoke by RFC 7009: the refresh token, or the access token where there is no other."""
    return EgressRequest(
        method="POST",
        url=url,
        headers={"Content-Type": "application/x-www-form-urlencoded", **headers},
        body=urlencode({"token": tokens.refresh_token or tokens.access_token}).encode(),
    )


def build_json_revocation(
    method: str, url: str, client: OauthClient, body: Mapping[str, str], headers: Mapping[str, str]
) -> EgressRequest:
    credentials = {"Authorization": build_basic_auth(client), "Content-Type": "application/json"}
    return EgressRequest(
        method=method, url=url, headers={**headers, **credentials}, body=to_json(body)
    )


def to_one_line(text: str | None, max_chars: int = _MAX_LINE_CHARS) -> str:
    """Return untrusted text as one line of at most `max_chars`, without invisible characters."""
    single_line = " ".join(strip_invisible((text or "")[: 4 * max_chars]).split())
    return single_line if len(single_line) <= max_chars else f"{single_line[: max_chars - 1]}…"


def build_listing(
    text: str,
    name: str,
    entries: Sequence[Mapping[str, Any]],
    *,
    entry_type: EmbedType,
    hidden_fields: tuple[str, ...] = (),
) -> ToolData:
    """Return entries as data under `name`, up to MAX_TEXT_CHARS of them, and as `text` for people."""
    sizes = accumulate(len(to_compact_json(entry)) for entry in entries)
    kept = [entry for entry, size in zip(entries, sizes, strict=True) if size <= MAX_TEXT_CHARS]
    left_out = {"left_out": len(entries) - len(kept)} if len(kept) < len(entries) else {}
    return ToolData(
        content={name: kept, **left_out},
        entry_type=entry_type,
        hidden_fields=hidden_fields,
        shown_text=text,
    )


def format_list(head: str, entries: list[str]) -> str:
    """Join a head and its entries, up to MAX_TEXT_CHARS."""
    text, entries_left = head, len(entries)
    for entry in entries:
        if len(text) + len(entry) > MAX_TEXT_CHARS:
            return f"{text}\n… {entries_left} more left out."
        text, entries_left = f"{text}\n{entry}", entries_left - 1
    return text
