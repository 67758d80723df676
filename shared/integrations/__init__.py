"""The outside services there are: one file each, loaded when it is needed."""

from importlib import import_module
from typing import TYPE_CHECKING

from shared.domain.connection import Service
from shared.domain.errors import NotFound

if TYPE_CHECKING:
    from shared.integrations.service import Integration

INTEGRATIONS: tuple[Service, ...] = (
    "google_calendar",
    "gmail",
    "whoop",
    "notion",
    "x",
    "github",
    "perplexity",
)
"""By name; the order is that of the model's tools, so append."""


def load_integration(name: str) -> "Integration":
    """Load a service by its name. Raises NotFound."""
    if name not in INTEGRATIONS:
        raise NotFound("There is no such service")
    loaded_integration: Integration = import_module(f"shared.integrations.{name}").INTEGRATION
    return loaded_integration
