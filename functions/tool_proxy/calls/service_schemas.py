"""Request and response bodies of connected services, and of addresses to look up."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from functions.tool_proxy.calls.call_schemas import CallIn
from shared.edge.declare.schemas import Wire

MAX_LINKS = 10
MAX_LINK_CHARS = 2_100


class ServiceCallIn(CallIn):
    """A call of a connected service's tool."""

    service: str


class LinksIn(Wire):
    """Addresses that an answer names; nothing says whose answer."""

    urls: Annotated[
        Sequence[Annotated[str, Field(max_length=MAX_LINK_CHARS)]], Field(max_length=MAX_LINKS)
    ]


class LinksOut(Wire):
    """Those of the addresses that lead nowhere any more."""

    broken: Sequence[str]
