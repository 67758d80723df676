"""Names of apps: none may look like the product, one of its services or one of its tools."""

from collections.abc import Iterator

from shared.domain.errors import Invalid
from shared.integrations import INTEGRATIONS, load_integration
from shared.security.reserved_names import OUR_NAMES, find_reserved_name


def require_unreserved_name(name: str) -> None:
    """Raises Invalid for a name that users would take for one of ours."""
    if reserved := find_reserved_name(name, _list_reserved_names()):
        raise Invalid(f"The name looks like {reserved}, which is reserved. Please choose another.")


def is_reserved(name: str) -> bool:
    return find_reserved_name(name, _list_reserved_names()) is not None


def _list_reserved_names() -> Iterator[str]:
    yield from OUR_NAMES
    for service in map(load_integration, INTEGRATIONS):
        yield service.label
        yield from (tool.name for tool in service.tools)
