"""What an outside service is made of: how an account is connected, and the tools that ask it."""

from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict

from shared.arguments import Arguments
from shared.domain.connection import OauthClient, Service, Tokens
from shared.domain.errors import KeepsakeError
from shared.domain.value import value
from shared.ports import EgressRequest
from shared.security.visible_text import strip_invisible

MAX_TEXT_CHARS = 20_000
"""Characters a tool returns; the rest is left out, and that is said."""
_MAX_LINE_CHARS = 300


class ServiceResponse(BaseModel):
    """What a service answers, as far as we read it: it may say more, and leave out what has a default."""

    model_config = ConfigDict(defer_build=True, extra="ignore")


ServiceResponseT = TypeVar("ServiceResponseT", bound=ServiceResponse)
QueryParams = dict[str, str | int]


class ServiceNotFound(KeepsakeError):
    """The service did not find it."""


class Duplicate(KeepsakeError):
    """The service has one under this id already."""


@value
class ServiceRequest:
    """An HTTP request to a service; `url` is whole, `body` is sent as JSON."""

    url: str
    method: Literal["GET", "POST", "PATCH", "DELETE"] = "GET"
    query: QueryParams = field(default_factory=dict)
    body: Mapping[str, Any] | None = None


class Account(Protocol):
    """An account at a service during one call of a tool."""

    @property
    def now(self) -> datetime: ...

    @property
    def call_id(self) -> str:
        """Name the call; a repetition of it has the same name."""

    async def send(
        self, request: ServiceRequest, response_type: type[ServiceResponseT]
    ) -> ServiceResponseT:
        """Raises ToolFailed; Missing and Duplicate where the service says so."""


@value
class ServiceTool:
    """A tool of a service. `run` gets arguments that were checked and returns text for the model.

    One with a `side_effect` changes something at the service.
    """

    name: str
    status: str
    arguments_type: type[Arguments]
    run: Callable[[Account, Any], Awaitable[str]]
    side_effect: bool = False


@value
class OAuthProvider:
    """Where accounts are connected by OAuth 2; `name` is what its client's settings begin with.

    `client_in` says where it wants our name and secret, `tokens_as` how it wants to be asked for
    tokens; `asks` is added to the address that a user is sent to, `refreshes` to a refresh.
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
    """What a user is asked to allow. `scopes` are needed, `beside` are not told apart afterwards.

    `account` answers how the account is called, at the dotted path `account_name`.
    """

    provider: OAuthProvider
    scopes: tuple[str, ...]
    account_url: str
    account_name_path: str
    extra_scopes: tuple[str, ...] = ()


@value
class Integration:
    """An outside service and its tools; without `consent` it is asked with a key of our own."""

    service: Service
    label: str
    tools: tuple[ServiceTool, ...]
    connection: ConnectionSpec | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def build_basic_auth(client: OauthClient) -> str:
    """Say who we are, as RFC 6749 encodes it."""
    pair = f"{quote(client.id, safe='')}:{quote(client.secret, safe='')}"
    return f"Basic {b64encode(pair.encode()).decode()}"


def to_one_line(text: str | None, max_chars: int = _MAX_LINE_CHARS) -> str:
    """Return a stranger's text as one line of bounded length, without what nobody sees."""
    single_line = " ".join(strip_invisible((text or "")[: 4 * max_chars]).split())
    return single_line if len(single_line) <= max_chars else f"{single_line[: max_chars - 1]}…"


def format_list(head: str, entries: list[str]) -> str:
    """List entries below their head, within MAX_TEXT."""
    text, entries_left = head, len(entries)
    for entry in entries:
        if len(text) + len(entry) > MAX_TEXT_CHARS:
            return f"{text}\n… {entries_left} more left out."
        text, entries_left = f"{text}\n{entry}", entries_left - 1
    return text
