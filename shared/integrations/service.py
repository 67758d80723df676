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
from shared.domain.text import visible
from shared.domain.value import value
from shared.ports import EgressRequest

MAX_TEXT = 20_000
"""Characters a tool returns; the rest is left out, and that is said."""
_MAX_LINE = 300


class Answer(BaseModel):
    """What a service answers, as far as we read it: it may say more, and leave out what has a default."""

    model_config = ConfigDict(defer_build=True, extra="ignore")


A = TypeVar("A", bound=Answer)
Query = dict[str, str | int]


class Missing(KeepsakeError):
    """The service has no such thing."""


class Duplicate(KeepsakeError):
    """The service has one under this id already."""


@value
class Request:
    """An HTTP request to a service; `url` is whole, `body` is sent as JSON."""

    url: str
    method: Literal["GET", "POST", "PATCH", "DELETE"] = "GET"
    query: Query = field(default_factory=dict)
    body: Mapping[str, Any] | None = None


class Account(Protocol):
    """An account at a service during one call of a tool."""

    @property
    def now(self) -> datetime: ...

    @property
    def call_id(self) -> str:
        """Name the call; a repetition of it has the same name."""

    async def send(self, request: Request, answer: type[A]) -> A:
        """Raises ToolFailed; Missing and Duplicate where the service says so."""


@value
class ServiceTool:
    """A tool of a service. `run` gets arguments that were checked and returns text for the model.

    One with a `side_effect` changes something at the service.
    """

    name: str
    status: str
    asked: type[Arguments]
    run: Callable[[Account, Any], Awaitable[str]]
    side_effect: bool = False


@value
class Provider:
    """Where accounts are connected by OAuth 2; `name` is what its client's settings begin with.

    `client_in` says where it wants our name and secret, `tokens_as` how it wants to be asked for
    tokens; `asks` is added to the address that a user is sent to, `refreshes` to a refresh.
    """

    name: str
    authorize_url: str
    token_url: str
    revocation: Callable[[OauthClient, Tokens], EgressRequest]
    client_in: Literal["body", "header"] = "body"
    tokens_as: Literal["form", "json"] = "form"
    asks: Mapping[str, str] = field(default_factory=dict)
    refreshes: Mapping[str, str] = field(default_factory=dict)


@value
class Consent:
    """What a user is asked to allow. `scopes` are needed, `beside` are not told apart afterwards.

    `account` answers how the account is called, at the dotted path `account_name`.
    """

    provider: Provider
    scopes: tuple[str, ...]
    account: str
    account_name: str
    beside: tuple[str, ...] = ()


@value
class Integration:
    """An outside service and its tools; without `consent` it is asked with a key of our own."""

    service: Service
    label: str
    tools: tuple[ServiceTool, ...]
    consent: Consent | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def basic(client: OauthClient) -> str:
    """Say who we are, as RFC 6749 encodes it."""
    pair = f"{quote(client.id, safe='')}:{quote(client.secret, safe='')}"
    return f"Basic {b64encode(pair.encode()).decode()}"


def line(text: str | None, longest: int = _MAX_LINE) -> str:
    """Return a stranger's text as one line of bounded length, without what nobody sees."""
    whole = " ".join(visible((text or "")[: 4 * longest]).split())
    return whole if len(whole) <= longest else f"{whole[: longest - 1]}…"


def told(head: str, entries: list[str]) -> str:
    """List entries below their head, within MAX_TEXT."""
    text, left = head, len(entries)
    for entry in entries:
        if len(text) + len(entry) > MAX_TEXT:
            return f"{text}\n… {left} more left out."
        text, left = f"{text}\n{entry}", left - 1
    return text
