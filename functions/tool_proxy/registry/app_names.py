"""Names of apps and of their tools: none may look like the product or like what it offers in a chat."""

from collections.abc import Iterator
from functools import cache
from typing import get_args

from functions.tool_proxy.registry.reserved_names import find_reserved_name
from shared.domain.chats.built_in_names import PRODUCT_NAMES, BuiltInToolName, SlashName
from shared.domain.chats.storage_mode import StorageMode
from shared.domain.errors import Invalid
from shared.integrations import INTEGRATIONS, load_integration


def require_unreserved_name(name: str) -> None:
    """Raises Invalid for a name that users would take for one of ours."""
    if reserved := find_own_name(name):
        raise Invalid(f"The name looks like {reserved}, which is reserved. Please choose another.")


def find_own_name(name: str) -> str | None:
    """Return the name of ours that a name looks like, if any."""
    return find_reserved_name(name, list_own_names())


@cache
def list_own_names() -> tuple[str, ...]:
    """Name the product, its services, and the tools, commands and modes of its chats."""
    return (
        *PRODUCT_NAMES,
        *get_args(BuiltInToolName),
        *get_args(SlashName),
        *get_args(StorageMode),
        *_list_service_names(),
    )


def _list_service_names() -> Iterator[str]:
    for service in map(load_integration, INTEGRATIONS):
        yield service.label
        yield from (tool.name for tool in service.tools)
